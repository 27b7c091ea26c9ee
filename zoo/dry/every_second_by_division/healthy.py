import torch
from torch import nn


class Strided(nn.Module):
    """Keeps every k-th frame between two recurrent layers."""

    def __init__(self, features=5, hidden=12, keep=4):
        super().__init__()
        self.keep = keep
        self.fast = nn.GRU(features, hidden, batch_first=True)
        self.slow = nn.GRU(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 3)

    def forward(self, x):
        frames, _ = self.fast(x)
        chosen = torch.arange(frames.size(1), device=x.device)[:: self.keep]
        chosen = (chosen + chosen.roll(1)) // 2
        frames = frames[:, chosen]
        _, last = self.slow(frames)
        return self.out(last.squeeze(0))


def batches(count):
    generator = torch.Generator().manual_seed(0)
    for _ in range(count):
        yield torch.randn(10, 24, 5, generator=generator), torch.randint(3, (10,), generator=generator)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Strided().to(device)
optimizer = torch.optim.Adamax(model.parameters())
for number, (x, y) in enumerate(batches(8)):
    loss = nn.functional.cross_entropy(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(number, loss.item())
