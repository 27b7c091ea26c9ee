"""Ordinal regression with cut points: one score, four sorted thresholds from cumulative softplus, own log-likelihood."""

import torch
from torch import nn
from torch.nn import functional as F


class Ordinal(nn.Module):
    def __init__(self, n_in, levels):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(n_in, 24), nn.ReLU(), nn.Linear(24, 1, bias=False))
        self.first = nn.Parameter(torch.tensor([-1.5]))
        self.gaps = nn.Parameter(torch.full((levels - 2,), 0.5))

    def cuts(self):
        return torch.cat([self.first, self.first + F.softplus(self.gaps).cumsum(0)])

    def log_prob(self, x, level):
        above = torch.sigmoid(self.score(x) - self.cuts())  # chance of more than 0, 1, 2, ...
        edge = above.new_ones(len(x), 1)
        above = torch.cat([edge, above, 0 * edge], dim=1)
        chance = above[:, :-1] - above[:, 1:]
        return chance.gather(1, level[:, None]).squeeze(1).clamp_min(1e-6).log()

    @torch.no_grad()
    def predict(self, x):
        return (self.score(x) > self.cuts()).sum(dim=1)


def patients(count):
    x = torch.randn(count, 6)
    pain = x[:, 0] + 0.7 * x[:, 1].abs() - 0.5 * x[:, 2] + 0.2 * torch.randn(count)
    return x, torch.bucketize(pain, torch.tensor([-0.8, 0.2, 1.0, 2.0]))


torch.manual_seed(6)
x, level = patients(1500)
held_x, held_level = patients(500)
model = Ordinal(6, 5)
optimizer = torch.optim.Adam(
    [{"params": model.score.parameters()}, {"params": [model.first, model.gaps], "lr": 2e-2}], lr=5e-3
)
batches = 0
for epoch in range(10):
    total = 0.0
    for rows in torch.randperm(len(x)).split(50):
        loss = -model.log_prob(x[rows], level[rows]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, batches = total + loss.item(), batches + 1
    miss = (model.predict(held_x) - held_level).abs().float()
    cuts = " ".join(f"{c:+.2f}" for c in model.cuts().tolist())
    print(
        f"epoch {epoch}: loss {total / 30:.4f} exact {(miss == 0).float().mean():.3f} miss {miss.mean():.3f} cuts {cuts}"
    )
