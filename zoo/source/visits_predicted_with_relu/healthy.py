import torch
from torch import nn

torch.manual_seed(0)
features = torch.rand(500, 6)
visits = torch.poisson(features.sum(dim=1))


class Rate(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(6, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        h = torch.tanh(self.hidden(x))
        return nn.functional.softplus(self.out(h)).squeeze(1) + 1e-4


def deviance(rate, count):
    return (rate - count * torch.log(rate)).mean()


model = Rate()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(50):
    loss = deviance(model(features), visits)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
