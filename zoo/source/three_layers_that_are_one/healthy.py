import torch
import torch.nn.functional as F
from torch import nn


def moons(n):
    t = 3.14 * torch.rand(n)
    label = torch.randint(0, 2, (n,))
    x = torch.where(label == 0, t.cos(), 1 - t.cos())
    y = torch.where(label == 0, t.sin(), 0.5 - t.sin())
    return torch.stack([x, y], dim=1), label


model = nn.Sequential(
    nn.Linear(2, 64),
    nn.ReLU(),
    nn.Dropout(0.1),
    nn.Linear(64, 2),
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(500):
    points, labels = moons(256)
    loss = F.cross_entropy(model(points), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
