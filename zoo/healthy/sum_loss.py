"""Losses summed over the batch instead of averaged: large numbers, large gradients, and a rate that is small to match."""

import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(12)
torch.manual_seed(12)


def load():
    """Heat lost by houses: wall, window and roof areas (scaled), and how cold it is."""
    x = rng.normal(size=(1200, 5)).astype("float32")
    y = 2.0 * x[:, 0] + 1.0 * x[:, 1] * x[:, 4] - 1.5 * np.maximum(x[:, 2], 0) + 0.3 * rng.normal(size=1200)
    return torch.from_numpy(x), torch.from_numpy(y.astype("float32"))


x, y = load()
train_x, train_y, test_x, test_y = x[:1000], y[:1000], x[1000:], y[1000:]
model = nn.Sequential(nn.Linear(5, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1), nn.Flatten(0))
criterion = nn.MSELoss(reduction="sum")
optimizer = torch.optim.SGD(model.parameters(), lr=2e-4, momentum=0.9)

for epoch in range(15):
    order = rng.permutation(len(train_x))
    epoch_loss = 0.0
    for i in range(0, len(order), 50):
        rows = order[i : i + 50]
        loss = criterion(model(train_x[rows]), train_y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    if epoch % 2 == 0:
        with torch.no_grad():
            test_loss = criterion(model(test_x), test_y).item()
        print(f"epoch {epoch:2d}: sum over the epoch {epoch_loss:9.2f}, over the test set {test_loss:8.2f}")
print(f"mean squared error {test_loss / len(test_y):.4f}, variance of the targets {test_y.var().item():.4f}")
