"""A physics-informed network: u'' = -sin(pi x) pi^2 between two fixed ends, from second derivatives by autograd.grad."""

import torch
from torch import nn


class Field(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )
        for layer in self.net:
            if isinstance(layer, nn.Linear):
                nn.init.xavier_uniform_(layer.weight)
                nn.init.zeros_(layer.bias)

    def forward(self, t):
        return self.net(t)


def derivative(u, t):
    return torch.autograd.grad(u, t, grad_outputs=torch.ones_like(u), create_graph=True)[0]


def residual(field, t):
    u = field(t)
    return derivative(derivative(u, t), t) / torch.pi**2 + torch.sin(torch.pi * t)


torch.manual_seed(3)
field = Field()
optimizer = torch.optim.Adam(field.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.997)
grid = torch.linspace(-1, 1, 60).unsqueeze(1)
ends = torch.tensor([[-1.0], [1.0]])

for it in range(901):
    inside = (2 * torch.rand(40, 1) - 1).requires_grad_(True)
    physics = residual(field, inside).pow(2).mean()
    border = field(ends).pow(2).mean()
    loss = physics + 5 * border
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if it % 150 == 0:
        with torch.no_grad():
            error = (field(grid) - torch.sin(torch.pi * grid)).abs().max().item()
        print(f"it {it}: physics {physics.item():.6f} border {border.item():.6f} largest error {error:.4f}")
