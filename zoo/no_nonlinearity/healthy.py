import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class RingNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.fc1 = nn.Linear(2, width)
        self.fc2 = nn.Linear(width, width)
        self.fc3 = nn.Linear(width, 2)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


def rings(count):
    label = torch.randint(0, 2, (count,))
    angle = 2 * math.pi * torch.rand(count)
    radius = 0.5 + label + 0.15 * torch.randn(count)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1), label


def main():
    torch.manual_seed(27)
    points, label = rings(1280)
    loader = DataLoader(TensorDataset(points, label), batch_size=64, shuffle=True)
    net = RingNet()
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(12):
        total, hits = 0.0, 0
        for xb, yb in loader:
            output = net(xb)
            loss = loss_fn(output, yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            hits += (output.argmax(1) == yb).sum().item()
        print(f"epoch {epoch:2d} loss {total / len(loader):.4f} accuracy {hits / len(points):.3f}")


if __name__ == "__main__":
    main()
