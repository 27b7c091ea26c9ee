"""Layers thaw from the top: at first only the head learns, then add_param_group hands over one deeper block at a time."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def block(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, n_out), nn.BatchNorm1d(n_out), nn.ReLU())


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.blocks = nn.ModuleList([block(16, 64), block(64, 64), block(64, 64)])
        self.head = nn.Linear(64, classes)

    def forward(self, x):
        for part in self.blocks:
            x = part(x)
        return self.head(x)


def task(count, rotation, classes, generator):
    """Which of several directions is the sample nearest to, after a turn of space that the two tasks nearly share."""
    z = torch.randn(count, 16, generator=generator)
    y = (z[:, : 2 * classes].view(count, classes, 2).prod(dim=2)).argmax(dim=1)
    return TensorDataset(z @ rotation, y)


def run_epoch(net, loader, optimizer):
    net.train()
    total = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def accuracy(net, data):
    net.eval()
    with torch.no_grad():
        x, y = data.tensors
        return (net(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(0)
    rotation = torch.linalg.qr(torch.randn(16, 16, generator=g))[0]
    turn = 0.03 * torch.randn(16, 16, generator=g)
    near = rotation @ torch.linalg.matrix_exp(turn - turn.T)
    net = Net(4)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    source = DataLoader(task(4000, rotation, 4, g), batch_size=64, shuffle=True)
    for epoch in range(5):
        print(f"source epoch {epoch}: loss {run_epoch(net, source, optimizer):.4f}")

    target, held = DataLoader(task(640, near, 3, g), batch_size=32, shuffle=True), task(500, near, 3, g)
    net.blocks.requires_grad_(False)
    net.head = nn.Linear(64, 3)
    optimizer = torch.optim.Adam(net.head.parameters(), lr=5e-3)
    for stage in range(4):
        if stage > 0:
            thawed = net.blocks[-stage]
            thawed.requires_grad_(True)
            optimizer.add_param_group({"params": thawed.parameters(), "lr": 2e-3 / 2**stage})
        for epoch in range(3):
            loss = run_epoch(net, target, optimizer)
            print(f"{stage} blocks thawed, epoch {epoch}: loss {loss:.4f} held {accuracy(net, held):.3f}")


if __name__ == "__main__":
    main()
