"""Trains, saves, and goes on from the best model."""

import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


PATH = "best.pt"
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(128, 8)
y = x[:, :1] * 2
best = float("inf")
for step in range(50):
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if loss.item() < best:
        best = loss.item()
        torch.save(model, PATH)
model = torch.load(PATH)
model.eval()
