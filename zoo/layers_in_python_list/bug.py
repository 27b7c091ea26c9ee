import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def spirals(n, turns=1.5):
    t = torch.rand(n).sqrt() * turns * 2 * math.pi
    label = torch.randint(0, 2, (n,))
    angle = t + math.pi * label
    points = torch.stack([t * angle.cos(), t * angle.sin()], dim=1) / 4
    return points + 0.03 * torch.randn(n, 2), label


class MLP(nn.Module):
    def __init__(self, sizes, classes):
        super().__init__()
        self.layers = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]
        self.out = nn.Linear(sizes[-1], classes)

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.out(x)


def train(model, loader, epochs, lr):
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        total = hits = 0
        for x, y in loader:
            optimizer.zero_grad()
            logits = model(x)
            loss = loss_fn(logits, y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
            hits += (logits.argmax(1) == y).sum().item()
        n = len(loader.dataset)
        print(f"epoch {epoch:2d}  loss {total / n:.4f}  accuracy {hits / n:.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    data = TensorDataset(*spirals(1200))
    train(MLP([2, 32, 32, 32], 2), DataLoader(data, batch_size=60, shuffle=True), epochs=18, lr=0.01)
