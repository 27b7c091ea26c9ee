"""The rate falls and jumps up again (SGDR), so the loss has humps; deep layers in a checkpoint are computed twice."""

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts
from torch.utils.checkpoint import checkpoint


class Gated(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.lin = nn.Linear(width, 2 * width)

    def forward(self, x):
        return x + nn.functional.glu(self.lin(self.norm(x)), dim=-1)


class Net(nn.Module):
    def __init__(self, width=40, depth=6):
        super().__init__()
        self.stem = nn.LazyLinear(width)
        self.layers = nn.ModuleList([Gated(width) for _ in range(depth)])
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.stem(x)
        for i in range(0, len(self.layers), 2):
            x = checkpoint(lambda h, i=i: self.layers[i + 1](self.layers[i](h)), x, use_reentrant=False)
        return self.head(x).squeeze(-1)


def energy(count):
    """How far a chain of three joints reaches."""
    angle = 3.1416 * (2 * torch.rand(count, 3) - 1) * 0.6
    turned = angle.cumsum(1)
    return torch.cat([angle.sin(), angle.cos()], dim=1), torch.hypot(turned.cos().sum(1), turned.sin().sum(1)) - 2


def main():
    torch.manual_seed(0)
    net = Net()
    net(energy(2)[0])  # gives the lazy layer its size, before the optimiser is made
    optimizer = torch.optim.AdamW(net.parameters(), lr=6e-3, weight_decay=1e-2)
    steps = 30
    scheduler = CosineAnnealingWarmRestarts(optimizer, T_0=1, T_mult=2, eta_min=1e-5)
    x, y = energy(30 * 64)
    held_x, held_y = energy(500)
    for epoch in range(7):
        total = 0.0
        for i, rows in enumerate(torch.randperm(len(x)).split(64)):
            loss = nn.functional.smooth_l1_loss(net(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step(epoch + i / steps)
            total += loss.item()
        with torch.no_grad():
            error = (net(held_x) - held_y).abs().mean().item()
        print(f"epoch {epoch}: loss {total / steps:.5f} held miss {error:.4f} rate {scheduler.get_last_lr()[0]:.5f}")


if __name__ == "__main__":
    main()
