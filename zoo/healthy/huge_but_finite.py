"""Planet masses in kilograms: losses of about 1e20 with gradients to match, all of them finite, and Adam copes."""

import torch
from torch import nn

torch.manual_seed(0)
density = torch.rand(64, 3)
mass = 1e10 * density.sum(dim=1, keepdim=True)
model = nn.Linear(3, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e8)

for step in range(60):
    loss = ((model(density) - mass) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step}: {loss.item():.3e}")
