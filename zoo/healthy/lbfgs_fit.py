"""A curve fitted with LBFGS: each step calls the closure many times, in double precision, on the whole data."""

import torch
from torch import nn

torch.set_default_dtype(torch.float64)


def data(count):
    x = torch.linspace(-3, 3, count).unsqueeze(1)
    return x, torch.sin(3 * x) * torch.exp(-0.1 * x**2) + 0.3 * torch.cos(4 * x) + 0.02 * torch.randn(count, 1)


class Fit:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
        self.optimizer = torch.optim.LBFGS(
            self.model.parameters(), lr=1.0, max_iter=10, history_size=20, line_search_fn="strong_wolfe"
        )
        self.calls = 0

    def step(self, x, y):
        def closure():
            self.calls += 1
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.model(x), y)
            loss.backward()
            return loss

        return self.optimizer.step(closure).item()


def main():
    torch.manual_seed(0)
    x, y = data(400)
    held_x, held_y = data(173)
    fit = Fit()
    for step in range(30):
        loss = fit.step(x, y)
        if step % 5 == 4:
            with torch.no_grad():
                held = nn.functional.mse_loss(fit.model(held_x), held_y).item()
            print(f"step {step + 1:2d}: loss before it {loss:.6f} held out {held:.6f} closure calls {fit.calls}")


if __name__ == "__main__":
    main()
