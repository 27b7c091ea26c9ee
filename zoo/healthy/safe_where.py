"""Singular functions guarded the right way: double where, clamp before log, xlogy, and a masked Inf nobody reads."""

import argparse

import torch
from torch import nn


def safe_log(x):
    positive = x > 0
    return torch.where(positive, torch.log(torch.where(positive, x, torch.ones_like(x))), torch.zeros_like(x))


def entropy(p):
    return -torch.xlogy(p.detach(), p.detach()).sum(dim=1).mean()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(8))
        self.fc = nn.Linear(8, 3)

    def forward(self, counts):
        return self.fc(safe_log(counts * self.gain))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=50)
    args = parser.parse_args()
    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    for step in range(args.steps):
        counts = torch.poisson(torch.full((32, 8), 1.5))
        label = counts[:, :3].argmax(dim=1)
        inverse = 1 / counts  # holds Inf, used for the log line only
        p = model(counts).softmax(dim=1)
        loss = -torch.log(p.clamp(min=1e-7))[torch.arange(32), label].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            rare = torch.isinf(inverse).float().mean().item()
            print(f"step {step}: {loss.item():.4f} entropy {entropy(p).item():.3f} zero counts {rare:.2f}")


if __name__ == "__main__":
    main()
