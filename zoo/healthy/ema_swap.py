"""Averaged weights are put in for the evaluation and the trained ones put back afterwards, epoch after epoch."""

from contextlib import contextmanager

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Average:
    def __init__(self, model, decay=0.98):
        self.model, self.decay, self.count = model, decay, 0
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    @torch.no_grad()
    def update(self):
        self.count += 1
        decay = min(self.decay, (1 + self.count) / (10 + self.count))
        for name, p in self.model.named_parameters():
            self.shadow[name].mul_(decay).add_(p, alpha=1 - decay)

    @contextmanager
    def swapped_in(self):
        backup = {name: p.detach().clone() for name, p in self.model.named_parameters()}
        with torch.no_grad():
            for name, p in self.model.named_parameters():
                p.copy_(self.shadow[name])
        try:
            yield self.model
        finally:
            with torch.no_grad():
                for name, p in self.model.named_parameters():
                    p.copy_(backup[name])


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        loss = nn.functional.cross_entropy(model(x), y).item()
    model.train()
    return loss


def rings(count):
    y = torch.randint(0, 3, (count,))
    angle, radius = 6.2832 * torch.rand(count), 0.6 + 0.6 * y + 0.12 * torch.randn(count)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1), y


if __name__ == "__main__":
    torch.manual_seed(0)
    x, y = rings(1600)
    held = rings(500)
    model = nn.Sequential(
        nn.Linear(2, 64), nn.LayerNorm(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3)
    )
    average = Average(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True, drop_last=True)
    for epoch in range(8):
        for xb, yb in loader:
            loss = nn.functional.cross_entropy(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            average.update()
        plain = evaluate(model, *held)
        with average.swapped_in() as averaged:
            smooth = evaluate(averaged, *held)
        print(f"epoch {epoch}: held-out loss {plain:.4f}, with averaged weights {smooth:.4f}")
