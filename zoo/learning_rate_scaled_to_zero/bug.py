import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ResidualBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1 = nn.Linear(width, width)
        self.fc2 = nn.Linear(width, width)

    def forward(self, x):
        return x + self.fc2(torch.relu(self.fc1(x)))


class ResidualMLP(nn.Module):
    def __init__(self, features, classes, width=32, depth=3):
        super().__init__()
        self.stem = nn.Linear(features, width)
        self.blocks = nn.ModuleList(ResidualBlock(width) for _ in range(depth))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(torch.relu(x))


def scaled_lr(base, batch_size):
    return base * (batch_size // 256)


def main(batch_size=64, base_lr=0.2, epochs=12):
    torch.manual_seed(4)
    x = torch.randn(1280, 12)
    y = (x[:, :6].abs().sum(dim=1) > x[:, 6:].abs().sum(dim=1)).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=batch_size, shuffle=True)
    model = ResidualMLP(12, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=scaled_lr(base_lr, batch_size), momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
