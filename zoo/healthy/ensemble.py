"""Three models in a plain Python list, each with an optimiser of its own, trained side by side on bootstrap samples."""

import torch
from torch import nn


class Member(nn.Module):
    """Predicts a mean and a variance; the loss is the Gaussian negative log-likelihood."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh())
        self.mean, self.spread = nn.Linear(48, 1), nn.Linear(48, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), nn.functional.softplus(self.spread(h)) + 1e-3


def measure(count):
    x = 4 * torch.rand(count, 1) - 2
    noise = 0.05 + 0.15 * (x > 0)
    return x, torch.sin(2.5 * x) + noise * torch.randn(count, 1)


torch.manual_seed(0)
x, y = measure(600)
held_x, held_y = measure(300)
members = [Member() for _ in range(3)]
optimizers = [torch.optim.Adam(m.parameters(), lr=5e-3) for m in members]
samples = [torch.randint(0, len(x), (len(x),)) for _ in members]
criterion = nn.GaussianNLLLoss()

for epoch in range(14):
    losses = []
    for member, optimizer, sample in zip(members, optimizers, samples):
        for rows in sample[torch.randperm(len(sample))].split(50):
            mean, variance = member(x[rows])
            loss = criterion(mean, y[rows], variance)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append(round(loss.item(), 3))
    if epoch % 2 == 1:
        with torch.no_grad():
            means, variances = zip(*(m(held_x) for m in members))
        error = (torch.stack(means).mean(0) - held_y).square().mean().item()
        print(f"epoch {epoch + 1:2d}: last losses {losses} squared error of the mean {error:.4f}")
with torch.no_grad():
    for place in (-1.0, 1.0):
        sigma = torch.stack([m(torch.tensor([[place]]))[1] for m in members]).mean().sqrt().item()
        print(f"noise at {place:+.0f}: guessed {sigma:.3f}, true {0.05 if place < 0 else 0.2}")
