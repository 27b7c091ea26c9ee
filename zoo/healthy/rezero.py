"""ReZero and a zero last layer: at the start every block is the identity, the output is 0, and most gradients are 0 too."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.alpha = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return x + self.alpha * self.body(x)


class Deep(nn.Module):
    def __init__(self, n_in, width, depth, n_out):
        super().__init__()
        self.stem = nn.Linear(n_in, width)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(depth)))
        self.head = nn.Linear(width, n_out)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


def checkers(count):
    """A board of 3 x 3 fields; the class is the colour of the field, the other inputs are of no use."""
    x = 3 * torch.rand(count, 2)
    y = (x.floor().sum(dim=1) % 2).long()
    return TensorDataset(torch.cat([(x - 1.5) / 0.87, torch.randn(count, 2)], dim=1), y)


def main():
    torch.manual_seed(0)
    loader = DataLoader(checkers(3000), batch_size=60, shuffle=True)
    held_x, held_y = checkers(600).tensors
    model = Deep(4, 48, depth=12, n_out=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        total = 0.0
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        with torch.no_grad():
            right = (model(held_x).argmax(1) == held_y).float().mean().item()
        alpha = torch.stack([b.alpha.detach().abs() for b in model.blocks]).mean().item()
        print(f"epoch {epoch}: loss {total / len(loader):.4f} held {right:.3f} mean |alpha| {alpha:.3f}")


if __name__ == "__main__":
    main()
