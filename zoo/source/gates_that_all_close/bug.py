import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self, width, experts):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.Linear(width, experts)

    def forward(self, x):
        opened = torch.relu(self.gate(x))
        total = opened.sum(dim=-1, keepdim=True)
        weights = opened / total
        return (weights * self.experts(x)).sum(dim=-1)


model = Mixture(12, 4)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(100):
    x = torch.randn(32, 12)
    loss = nn.functional.mse_loss(model(x), x[:, 0])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
