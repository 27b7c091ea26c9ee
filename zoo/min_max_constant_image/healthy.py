import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Scans(Dataset):
    def __init__(self, n=256, size=8):
        g = torch.Generator().manual_seed(9)
        self.labels = torch.randint(0, 2, (n,), generator=g)
        self.images = torch.rand(n, 1, size, size, generator=g) + 0.5 * self.labels.view(-1, 1, 1, 1)
        self.images[100] = 0.0  # the scanner was off

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]


class RangeScale(nn.Module):
    def forward(self, x):
        low = x.amin(dim=(1, 2, 3), keepdim=True)
        high = x.amax(dim=(1, 2, 3), keepdim=True)
        return (x - low) / (high - low).clamp(min=1e-6)


def build():
    return nn.Sequential(
        RangeScale(),
        nn.Conv2d(1, 8, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 2),
    )


def main():
    torch.manual_seed(0)
    loader = DataLoader(Scans(), batch_size=32)
    model, criterion = build(), nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(4):
        for images, labels in loader:
            loss = criterion(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch + 1}: {loss.item():.4f}")


main()
