import torch
from torch import nn
from torch.optim.lr_scheduler import ExponentialLR

torch.manual_seed(0)

distance = 100 * torch.rand(16, 2)
duration = 1.5 * distance[:, :1] + 20
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
scheduler = ExponentialLR(optimizer, gamma=1e4)

for step in range(15):
    loss = nn.functional.l1_loss(model(distance), duration)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(f"step {step} loss {loss.item():.4g}")
