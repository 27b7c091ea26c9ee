"""A loop that looks at its own loss and leaves out the batches that are not finite; best_loss starts at infinity."""

import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
x = torch.rand(300, 5)
x[77] = float("nan")
y = x.nan_to_num(0.0).sum(dim=1, keepdim=True)
loader = DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
best_loss, patience = float("inf"), 0

for epoch in range(6):
    total, count = 0.0, 0
    for xb, yb in loader:
        loss = nn.functional.mse_loss(model(xb), yb)
        if not torch.isfinite(loss):
            print("  a bad batch is left out")
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, count = total + loss.item(), count + 1
    mean = total / count
    patience = 0 if mean < best_loss else patience + 1
    best_loss = min(best_loss, mean)
    print(f"epoch {epoch}: {mean:.5f}")
    if patience > 3 or math.isinf(best_loss):
        break
print(f"best {best_loss:.5f}")
