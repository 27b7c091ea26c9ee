"""A normalising flow of affine couplings: the loss is a negative log-likelihood that may well go below zero."""

import torch
from torch import nn
from torch.distributions import MultivariateNormal


class Coupling(nn.Module):
    def __init__(self, flip, hidden=48):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.last = nn.Linear(hidden, 2)
        nn.init.zeros_(self.last.weight)  # each coupling starts as the identity
        nn.init.zeros_(self.last.bias)

    def _parts(self, x):
        a, b = x.chunk(2, dim=1)
        return (b, a) if self.flip else (a, b)

    def _join(self, a, b):
        return torch.cat((b, a) if self.flip else (a, b), dim=1)

    def forward(self, x):
        keep, change = self._parts(x)
        log_scale, shift = self.last(self.net(keep)).chunk(2, dim=1)
        log_scale = 2 * torch.tanh(log_scale / 2)
        return self._join(keep, change * log_scale.exp() + shift), log_scale.sum(dim=1)

    def inverse(self, z):
        keep, change = self._parts(z)
        log_scale, shift = self.last(self.net(keep)).chunk(2, dim=1)
        log_scale = 2 * torch.tanh(log_scale / 2)
        return self._join(keep, (change - shift) * torch.exp(-log_scale))


class Flow(nn.Module):
    def __init__(self, depth=6):
        super().__init__()
        self.layers = nn.ModuleList([Coupling(flip=i % 2 == 1) for i in range(depth)])
        self.register_buffer("mean", torch.zeros(2))
        self.register_buffer("cov", torch.eye(2))

    def log_prob(self, x):
        total = 0.0
        for layer in self.layers:
            x, log_det = layer(x)
            total = total + log_det
        return MultivariateNormal(self.mean, self.cov).log_prob(x) + total

    @torch.no_grad()
    def sample(self, count):
        x = torch.randn(count, 2)
        for layer in reversed(self.layers):
            x = layer.inverse(x)
        return x


def banana(count):
    a = torch.randn(count)
    b = 0.6 * a**2 - 0.6 + 0.1 * torch.randn(count)
    return torch.stack([0.5 * a, 0.5 * b], dim=1)


torch.manual_seed(0)
flow = Flow()
optimizer = torch.optim.Adamax(flow.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=400, eta_min=1e-4)
for step in range(400):
    loss = -flow.log_prob(banana(128)).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
    optimizer.step()
    scheduler.step()
    if step % 40 == 0 or step == 399:
        print(f"step {step:3d} negative log-likelihood {loss.item():+.4f}")
drawn, true = flow.sample(4000), banana(4000)
print(
    "mean", [round(v, 2) for v in drawn.mean(0).tolist()], "of the data", [round(v, 2) for v in true.mean(0).tolist()]
)
print("std", [round(v, 2) for v in drawn.std(0).tolist()], "of the data", [round(v, 2) for v in true.std(0).tolist()])
