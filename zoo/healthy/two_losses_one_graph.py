"""Two backward calls through one graph: retain_graph=True for the first, the gradients meant to add up, norms compared."""

import torch
from torch import nn
from torch.nn import functional as F


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(9, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.price, self.sold = nn.Linear(48, 1), nn.Linear(48, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.price(h).squeeze(1), self.sold(h).squeeze(1)


def grad_norm(module):
    return torch.sqrt(sum(p.grad.square().sum() for p in module.parameters())).item()


def houses(count, g):
    x = torch.randn(count, 9, generator=g)
    price = x[:, 0] + 0.5 * x[:, 1] * x[:, 2] + 0.2 * torch.randn(count, generator=g)
    sold = (x[:, 3] - 0.8 * price + 0.3 * torch.randn(count, generator=g) > 0).float()
    return x, price, sold


def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(0)
    x, price, sold = houses(2000, g)
    held = houses(500, g)
    model = Shared()
    optimizer = torch.optim.RAdam(model.parameters(), lr=4e-3)
    for epoch in range(10):
        first, both = [], []
        for rows in torch.randperm(len(x)).split(50):
            guess, logit = model(x[rows])
            optimizer.zero_grad()
            F.mse_loss(guess, price[rows]).backward(retain_graph=True)
            first.append(grad_norm(model.trunk))
            F.binary_cross_entropy_with_logits(logit, sold[rows]).backward()
            both.append(grad_norm(model.trunk))
            optimizer.step()
        with torch.no_grad():
            guess, logit = model(held[0])
        error = F.mse_loss(guess, held[1]).item()
        right = ((logit > 0) == (held[2] > 0.5)).float().mean().item()
        norms = f"{sum(first) / len(first):.3f} -> {sum(both) / len(both):.3f}"
        print(f"epoch {epoch}: price error {error:.4f} sold {right:.3f} gradient norm {norms}")


if __name__ == "__main__":
    main()
