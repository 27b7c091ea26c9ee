"""Dropout left on at test time on purpose: thirty noisy passes without gradients tell how sure the network is."""

import math

import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self, p=0.1):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(1, 128),
            nn.ReLU(),
            nn.Dropout(p),
            nn.Linear(128, 128),
            nn.ReLU(),
            nn.Dropout(p),
            nn.Linear(128, 1),
        )

    def forward(self, x):
        return self.layers(x)


def enable_dropout(model):
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.train()


@torch.no_grad()
def predict(model, x, passes=30):
    model.eval()
    enable_dropout(model)
    draws = torch.stack([model(x) for _ in range(passes)])
    return draws.mean(dim=0), draws.std(dim=0)


def make(count):
    x = 4 * torch.rand(count, 1) - 2
    return x, torch.sin(math.pi * x / 1.5) + 0.3 * x + 0.1 * torch.randn(count, 1)


def main():
    torch.manual_seed(0)
    x, y = make(400)
    test_x, test_y = make(200)
    model = Regressor()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-5)
    for epoch in range(40):
        model.train()
        total = 0.0
        for rows in torch.randperm(len(x)).split(40):
            loss = nn.functional.mse_loss(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() / 10
        if epoch % 5 == 4:
            mean, std = predict(model, test_x)
            error = (mean - test_y).square().mean().item()
            print(f"epoch {epoch + 1:2d}: train {total:.4f} test error of the mean {error:.4f} spread {std.mean():.3f}")
    _, near = predict(model, torch.linspace(-1.5, 1.5, 50).unsqueeze(1))
    _, far = predict(model, torch.linspace(5, 8, 50).unsqueeze(1))
    print(f"spread where there were data {near.mean():.3f}, far away {far.mean():.3f}")


if __name__ == "__main__":
    main()
