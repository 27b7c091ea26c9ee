import torch
from torch import nn

torch.manual_seed(2)


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = nn.Linear(3, 1)

    def forward(self, drivers, horizon):
        growth = torch.log1p(nn.functional.softplus(self.rate(drivers)))
        return torch.cumsum(growth.expand(-1, horizon), dim=1)


model = Forecast()
optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
for step in range(40):
    horizon = 10 + 10 * step  # look further ahead as training goes on
    drivers = torch.rand(16, 3)
    truth = torch.cumprod((1.01 + 0.01 * drivers[:, :1]).expand(-1, horizon), dim=1)
    path = model(drivers, horizon)
    loss = (path - torch.log(truth)).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"horizon {horizon:3d} days: error {loss.item():.4f}")
