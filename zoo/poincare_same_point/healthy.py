import random

import torch
from torch import nn

random.seed(2)
torch.manual_seed(2)


class Poincare(nn.Module):
    def __init__(self, count, width=3):
        super().__init__()
        self.points = nn.Embedding(count, width)
        nn.init.uniform_(self.points.weight, -0.3, 0.3)

    def forward(self, u, v):
        u, v = self.points(u), self.points(v)
        gap = ((u - v) ** 2).sum(-1)
        room = (1 - (u**2).sum(-1)) * (1 - (v**2).sum(-1))
        return torch.acosh(1 + 2 * gap / room + 1e-5)


def pairs(size):
    """Parent and child in a binary tree, with a few random others."""
    child = [random.randrange(1, 31) for _ in range(size)]
    parent = [(c - 1) // 2 for c in child]
    other = [random.randrange(31) for _ in range(size)]
    return torch.tensor(child), torch.tensor(parent), torch.tensor(other)


model = Poincare(31)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for step in range(60):
    child, parent, other = pairs(4)
    near, far = model(child, parent), model(child, other)
    loss = torch.relu(near - far + 0.5).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step:2d} margin loss {loss.item():.4f}")
