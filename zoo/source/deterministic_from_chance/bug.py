"""An experiment that should repeat exactly."""

import torch
from torch import nn

torch.use_deterministic_algorithms(True)
x = torch.linspace(-1, 1, 64).unsqueeze(1)
y = x.pow(3)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(50):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(loss.item())
