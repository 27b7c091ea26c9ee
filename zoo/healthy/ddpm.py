"""A tiny diffusion model of a spiral: the network guesses the noise, an average of its weights draws the samples."""

import copy
import math

import torch
from torch import nn

T = 50


def spiral(count):
    turn = 0.25 + 0.75 * torch.rand(count)
    angle = 2 * math.pi * turn
    return torch.stack([turn * angle.cos(), turn * angle.sin()], dim=1) * 1.8 + 0.02 * torch.randn(count, 2)


def embed(t, width=32):
    rate = torch.exp(torch.arange(width // 2) * (-math.log(1000.0) / (width // 2)))
    angle = t[:, None].float() * rate
    return torch.cat([angle.sin(), angle.cos()], dim=1)


class Denoiser(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.inp = nn.Linear(2, width)
        self.time = nn.Sequential(nn.Linear(32, width), nn.SiLU(), nn.Linear(width, width))
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, 2)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x, t):
        h, e = self.inp(x), self.time(embed(t))
        for layer in self.hidden:
            h = h + layer(nn.functional.silu(h + e))
        return self.out(h)


beta = torch.linspace(1e-3, 0.2, T)
alpha = 1 - beta
alpha_bar = torch.cumprod(alpha, dim=0)


@torch.no_grad()
def sample(model, count):
    x = torch.randn(count, 2)
    for t in reversed(range(T)):
        noise = model(x, torch.full((count,), t))
        x = (x - beta[t] / (1 - alpha_bar[t]).sqrt() * noise) / alpha[t].sqrt()
        if t > 0:
            x = x + beta[t].sqrt() * torch.randn_like(x)
    return x


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Denoiser()
    average = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    data, running = spiral(4000), 1.0
    for step in range(1, 601):
        x0 = data[torch.randint(0, len(data), (256,))]
        t = torch.randint(0, T, (256,))
        noise = torch.randn_like(x0)
        level = alpha_bar[t].unsqueeze(1)
        xt = level.sqrt() * x0 + (1 - level).sqrt() * noise
        loss = (model(xt, t) - noise).square().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        for p, q in zip(model.parameters(), average.parameters()):
            q.data.lerp_(p.data, 0.02)
        running = 0.95 * running + 0.05 * loss.item()
        if step % 100 == 0:
            drawn = sample(average, 300)
            far = torch.cdist(drawn, data).min(dim=1).values.mean()
            print(f"step {step}: loss {running:.4f} samples are {far:.4f} away from the data")
