"""An endless stream of batches: next(iterator) in the loop, made anew when it runs dry; a sampler that balances classes."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def cycle(loader):
    while True:
        yield from loader


def tones(count, generator):
    """Of five tones the first is heard nine times as often as the last."""
    y = torch.multinomial(torch.tensor([9.0, 5.0, 3.0, 2.0, 1.0]), count, replacement=True, generator=generator)
    rate = 0.3 + 0.25 * y
    phase = 6.28 * torch.rand(count, generator=generator)
    x = torch.sin(rate[:, None] * torch.arange(40.0) + phase[:, None])
    return TensorDataset((x + 0.9 * torch.randn(count, 40, generator=generator)).unsqueeze(1), y)


def recall_of_each(model, data):
    x, y = data.tensors
    model.eval()
    with torch.no_grad():
        right = model(x).argmax(1) == y
    model.train()
    return [round(right[y == k].float().mean().item(), 2) for k in range(5)]


torch.manual_seed(0)
generator = torch.Generator().manual_seed(0)
train, held = tones(1500, generator), tones(600, generator)
labels = train.tensors[1]
weights = (1.0 / torch.bincount(labels).float())[labels]
sampler = WeightedRandomSampler(weights, num_samples=len(labels), generator=generator)
batches = cycle(DataLoader(train, batch_size=32, sampler=sampler))
side = DataLoader(train, batch_size=32, shuffle=True, generator=generator)
side_iterator = iter(side)

model = nn.Sequential(
    nn.Conv1d(1, 16, 7, stride=2), nn.BatchNorm1d(16), nn.ReLU(), nn.Conv1d(16, 32, 5, stride=2), nn.ReLU(),
    nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(32, 5),
)  # fmt: skip
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
running = 1.6
for step in range(1, 321):
    x, y = next(batches)
    try:
        other, _ = next(side_iterator)
    except StopIteration:
        side_iterator = iter(side)
        other, _ = next(side_iterator)
    # a loss with labels, and one without: turned upside down, a tone should be heard the same
    twice = torch.stack([model(other), model(-other)]).log_softmax(-1)
    same = nn.functional.kl_div(twice[1], twice[0].detach(), log_target=True, reduction="batchmean")
    loss = nn.functional.cross_entropy(model(x), y) + 0.3 * same
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running = 0.95 * running + 0.05 * loss.item()
    if step % 40 == 0:
        print(f"step {step}: running loss {running:.4f} recall of each tone {recall_of_each(model, held)}")
