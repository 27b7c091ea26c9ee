"""Weights are changed by hand after each step, and rightly: negative ones set to zero, pruned ones kept at zero."""

import torch
from torch import nn
from torch.nn import functional as F


def mixtures(count, parts):
    """Every sample is a mixture of a few spectra with amounts that are never negative."""
    amounts = torch.rand(count, len(parts)) * (torch.rand(count, len(parts)) < 0.5)
    return amounts @ parts + 0.01 * torch.randn(count, parts.shape[1]), amounts


class Unmixer(nn.Module):
    def __init__(self, bands, parts):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(bands, 48), nn.ReLU(), nn.Linear(48, parts), nn.Softplus())
        self.spectra = nn.Parameter(0.5 * torch.rand(parts, bands))
        self.register_buffer("mask", torch.ones(48, bands))

    def forward(self, x):
        return self.encoder(x) @ self.spectra

    @torch.no_grad()
    def project(self):
        self.spectra.clamp_(min=0.0)
        self.encoder[0].weight.mul_(self.mask)

    @torch.no_grad()
    def prune(self, share):
        size = self.encoder[0].weight.abs()
        self.mask.copy_((size > size.flatten().quantile(share)).float())


def main():
    torch.manual_seed(0)
    band = torch.arange(30.0)
    parts = torch.stack([torch.exp(-((band - c) ** 2) / 18) for c in (4.0, 11.0, 18.0, 25.0)])
    train, _ = mixtures(2000, parts)
    held, _ = mixtures(400, parts)
    model = Unmixer(30, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(12):
        if epoch in (6, 9):
            model.prune(0.5 if epoch == 6 else 0.7)
        total = 0.0
        for rows in torch.randperm(len(train)).split(50):
            x = train[rows]
            loss = F.mse_loss(model(x), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            model.project()
            total += loss.item() / 40
        with torch.no_grad():
            error = F.mse_loss(model(held), held).item()
        kept = model.mask.mean().item()
        print(f"epoch {epoch:2d}: train {total:.5f} held {error:.5f} weights kept {kept:.2f}")
    likeness = F.normalize(model.spectra.detach(), dim=1) @ F.normalize(parts, dim=1).T
    print("spectra found:", [round(v, 3) for v in likeness.max(dim=0).values.tolist()])


if __name__ == "__main__":
    main()
