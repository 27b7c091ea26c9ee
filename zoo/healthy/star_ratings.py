"""Stars 1 to 5 fitted as numbers: they are ordered, so squared error on one output is right, and near misses count less."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def reviews(count):
    x = torch.randn(count, 8)
    quality = 0.8 * x[:, 0] - 0.6 * x[:, 1] + 0.5 * torch.tanh(2 * x[:, 2]) + 0.15 * torch.randn(count)
    stars = 1 + (quality[:, None] > torch.tensor([-1.2, -0.4, 0.4, 1.2])).sum(dim=1)
    return x, stars


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
        nn.init.constant_(self.body[-1].bias, 3.0)  # the middle of the scale

    def forward(self, x):
        return self.body(x).squeeze(-1)


def main():
    torch.manual_seed(1)
    x, stars = reviews(2000)
    test_x, test_stars = reviews(500)
    print("stars", torch.bincount(stars, minlength=6)[1:].tolist())
    loader = DataLoader(TensorDataset(x, stars), batch_size=50, shuffle=True)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(10):
        for xb, sb in loader:
            loss = nn.functional.mse_loss(model(xb), sb.float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            guess = model(test_x)
        rounded = guess.round().clamp(1, 5)
        exact = (rounded == test_stars).float().mean().item()
        near = ((rounded - test_stars).abs() <= 1).float().mean().item()
        print(f"epoch {epoch}: last loss {loss.item():.4f} mean miss {(guess - test_stars).abs().mean():.3f}", end=" ")
        print(f"exact {exact:.3f} within one star {near:.3f}")


if __name__ == "__main__":
    main()
