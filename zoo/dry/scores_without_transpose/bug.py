import math

import torch
from torch import nn, optim


class SelfAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.scale = 1 / math.sqrt(dim)

    def forward(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = torch.bmm(q, k) * self.scale
        return torch.bmm(scores.softmax(dim=-1), v)


class SetModel(nn.Module):
    def __init__(self, features=5, dim=18):
        super().__init__()
        self.embed = nn.Linear(features, dim)
        self.attend = SelfAttention(dim)
        self.read = nn.Linear(dim, 1)

    def forward(self, points):
        x = torch.tanh(self.embed(points))
        x = x + self.attend(x)
        return self.read(x.mean(dim=1))[:, 0]


def sample(n, generator):
    points = torch.randn(n, 12, 5, generator=generator)
    return points, points.max(dim=1).values.sum(dim=1)


device = "cuda:0" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
rng = torch.Generator().manual_seed(8)
model = SetModel().to(device)
optimizer = optim.Adam(model.parameters(), lr=1e-3)
for iteration in range(20):
    x, y = (part.to(device) for part in sample(32, rng))
    loss = nn.functional.smooth_l1_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if iteration % 5 == 0:
        print(iteration, loss.item())
