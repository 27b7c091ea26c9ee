import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ShapeDataset(Dataset):
    """Noisy 10x10 drawings of five shapes."""

    def __init__(self, size, seed=0):
        rng = np.random.default_rng(seed)
        shapes = rng.normal(size=(5, 10, 10))
        labels = rng.integers(0, 5, size)
        images = shapes[labels] + rng.normal(scale=1.0, size=(size, 10, 10))
        self.images = rng.permutation(images).astype(np.float32)
        self.labels = rng.permutation(labels)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return torch.from_numpy(self.images[index]).unsqueeze(0), int(self.labels[index])


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.fc = nn.Linear(8 * 4 * 4, 5)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.conv(x)), 2)
        return self.fc(x.flatten(1))


def main(epochs=5, lr=2e-3):
    torch.manual_seed(0)
    loader = DataLoader(ShapeDataset(2400), batch_size=48, shuffle=True)
    net = ConvNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    for epoch in range(epochs):
        total = 0.0
        for images, labels in loader:
            optimizer.zero_grad()
            loss = criterion(net(images), labels)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} average loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
