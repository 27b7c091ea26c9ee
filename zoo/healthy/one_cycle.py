"""OneCycleLR stepped after every batch: the rate rises tenfold, then falls to almost nothing; SGD with momentum cycled too."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a, self.b = nn.Conv1d(width, width, 3, padding=1), nn.Conv1d(width, width, 3, padding=1)
        self.norm_a, self.norm_b = nn.BatchNorm1d(width), nn.BatchNorm1d(width)

    def forward(self, x):
        h = F.relu(self.norm_a(self.a(x)))
        return F.relu(x + self.norm_b(self.b(h)))


def beats(count, g):
    """Four rhythms of pulses under noise, starting anywhere."""
    kinds = torch.tensor(
        [[1, 0, 0, 0, 1, 0, 0, 0], [1, 0, 1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 1, 0, 0]]
    )
    labels = torch.randint(0, 4, (count,), generator=g)
    wave = kinds[labels].repeat_interleave(2, dim=1).repeat(1, 3).float()
    shift = torch.randint(0, 16, (count, 1), generator=g)
    wave = wave.gather(1, (torch.arange(48) + shift) % 48)
    return TensorDataset((wave - 0.3 + 0.4 * torch.randn(wave.shape, generator=g)).unsqueeze(1), labels)


g = torch.Generator().manual_seed(3)
torch.manual_seed(3)
train, held = DataLoader(beats(2000, g), batch_size=40, shuffle=True), beats(400, g).tensors
net = nn.Sequential(
    nn.Conv1d(1, 16, 5, padding=2),
    nn.ReLU(),
    Residual(16),
    nn.MaxPool1d(2),
    Residual(16),
    nn.AdaptiveAvgPool1d(1),
    nn.Flatten(),
    nn.Linear(16, 4),
)
epochs = 6
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, epochs=epochs, steps_per_epoch=len(train))
for epoch in range(epochs):
    net.train()
    running = 0.0
    for x, y in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        running += loss.item() / len(train)
    net.eval()
    with torch.no_grad():
        right = (net(held[0]).argmax(1) == held[1]).float().mean().item()
    now = optimizer.param_groups[0]
    print(f"epoch {epoch}: loss {running:.4f} held {right:.3f} rate {now['lr']:.6f} momentum {now['momentum']:.3f}")
