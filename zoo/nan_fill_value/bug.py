import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(7, 32), nn.ReLU())
        self.heads = nn.ModuleList([nn.Linear(32, 1) for _ in range(tasks)])

    def forward(self, x):
        h = self.trunk(x)
        return torch.cat([head(h) for head in self.heads], dim=1)


MISSING = torch.tensor(float("nan"))


def masked_mse(prediction, target, known):
    filled = torch.where(known, target, MISSING)
    error = (prediction - filled) ** 2
    return (error * known).sum() / known.sum()


def assays(size, rate):
    x = torch.randn(size, 7)
    target = torch.stack([x.sum(1), x[:, 0] * x[:, 1], x[:, 2]], dim=1)
    return x, target, torch.rand(size, 3) < rate


def main():
    torch.manual_seed(0)
    model = MultiTask(tasks=3)
    optimizer = torch.optim.NAdam(model.parameters(), lr=2e-3)
    for step in range(30):
        rate = 1.0 if step < 10 else 0.7  # first the complete assays, then the sparse ones
        x, target, known = assays(40, rate)
        loss = masked_mse(model(x), target, known)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
