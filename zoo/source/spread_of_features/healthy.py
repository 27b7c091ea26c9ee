import torch
from torch import nn


class Projector(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(32, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, x):
        return self.net(x)


def spread_loss(z):
    deviation = torch.sqrt(torch.var(z, dim=0) + 1e-4)
    return torch.relu(1.0 - deviation).mean()


projector = Projector()
optimizer = torch.optim.Adam(projector.parameters())
for _ in range(20):
    z = projector(torch.randn(64, 32))
    loss = spread_loss(z)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
