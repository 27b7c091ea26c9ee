"""Imitation of a controller whose commands lie in [-1, 1] and often at the ends: a Tanh as last layer is just right."""

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Expert(IterableDataset):
    """Endless pairs of what the driver saw (offset, angle, speed, curve) and what he did (steer, gas)."""

    def __init__(self, seed, batch=64):
        self.generator, self.batch = torch.Generator().manual_seed(seed), batch

    def __iter__(self):
        while True:
            seen = torch.randn(self.batch, 4, generator=self.generator)
            steer = -1.2 * seen[:, 0] - 0.8 * seen[:, 1] + 0.5 * seen[:, 3]
            gas = 0.8 - 0.7 * seen[:, 2] - 0.6 * seen[:, 3].abs()
            yield seen, torch.stack([steer, gas], dim=1).clamp(-1, 1)


class Driver(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(4, hidden), nn.ELU(), nn.Linear(hidden, hidden), nn.ELU())
        self.command = nn.Sequential(nn.Linear(hidden, 2), nn.Tanh())

    def forward(self, seen):
        return self.command(self.trunk(seen))


def main():
    torch.manual_seed(0)
    driver = Driver()
    optimizer = torch.optim.Adam(driver.parameters(), lr=3e-3)
    stream = iter(DataLoader(Expert(0), batch_size=None))
    check_seen, check_done = next(iter(Expert(1, batch=1000)))
    ends = (check_done.abs() == 1).float().mean().item()
    print(f"share of commands at the ends {ends:.3f}")
    running = None
    for step in range(1, 501):
        seen, done = next(stream)
        loss = nn.functional.mse_loss(driver(seen), done)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running = loss.item() if running is None else 0.95 * running + 0.05 * loss.item()
        if step % 100 == 0:
            with torch.no_grad():
                error = (driver(check_seen) - check_done).abs().mean().item()
            print(f"step {step}: running loss {running:.5f} mean error of a command {error:.4f}")


if __name__ == "__main__":
    main()
