"""Transfer learning by the book: backbone trained before, frozen and kept in eval() on purpose, only the new head learns."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def gratings(count, classes, offset, generator):
    """Stripes under some angle; the class is the angle."""
    labels = torch.randint(0, classes, (count,), generator=generator)
    angle = (labels + offset) * 3.1416 / classes + 0.15 * torch.randn(count, generator=generator)
    yy, xx = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
    phase = 6.28 * torch.rand(count, generator=generator)
    wave = torch.sin(1.3 * (xx * angle.cos()[:, None, None] + yy * angle.sin()[:, None, None]) + phase[:, None, None])
    return TensorDataset((wave + 1.5 * torch.randn(count, 12, 12, generator=generator)).unsqueeze(1), labels)


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 5, padding=2, bias=False),
            nn.BatchNorm2d(12),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1, bias=False),
            nn.BatchNorm2d(24),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
            nn.Dropout(0.1),
        )
        self.fc = nn.Linear(96, classes)

    def forward(self, x):
        return self.fc(self.features(x))


def accuracy(model, loader):
    model.eval()
    with torch.no_grad():
        return sum((model(x).argmax(1) == y).sum().item() for x, y in loader) / len(loader.dataset)


def pretrain(model, loader):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(5):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        print(f"pretraining epoch {epoch}: loss {loss.item():.4f}")


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model = Net(8)
    pretrain(model, DataLoader(gratings(1600, 8, 0.0, generator), batch_size=32, shuffle=True))

    for p in model.parameters():
        p.requires_grad = False
    model.fc = nn.Linear(96, 3)  # new layers learn by default
    optimizer = torch.optim.SGD(model.fc.parameters(), lr=0.01, momentum=0.9)
    train = DataLoader(gratings(600, 3, 0.3, generator), batch_size=20, shuffle=True)
    held = DataLoader(gratings(300, 3, 0.3, generator), batch_size=100)
    for epoch in range(5):
        model.train()
        model.features.eval()  # its BatchNorm must not move
        total = 0.0
        for x, y in train:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"new task epoch {epoch}: loss {total / len(train):.4f} accuracy {accuracy(model, held):.3f}")


if __name__ == "__main__":
    main()
