import math

import torch
from torch import nn

model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
best = math.inf

for epoch in range(100):
    x = torch.randn(64, 10)
    y = x.pow(3).sum(dim=1, keepdim=True)
    loss = nn.functional.mse_loss(model(x), y)
    if math.isnan(loss.item()):
        print("diverged, giving up")
        break
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    best = min(best, loss.item())
print(best)
