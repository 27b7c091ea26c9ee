"""Reptile on sine waves: weights are loaded back again and again on purpose, and each task gets an SGD of its own."""

import copy

import torch
from torch import nn


class Sine:
    def __init__(self, generator):
        self.generator = generator
        self.height = 0.5 + 2 * torch.rand(1, generator=generator).item()
        self.phase = torch.rand(1, generator=generator).item()

    def draw(self, count):
        x = 6 * torch.rand(count, 1, generator=self.generator) - 3
        return x, self.height * torch.sin(x + self.phase)


def build():
    return nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))


def adapt(model, task, steps, count=20, lr=0.02):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    x, y = task.draw(count)
    for _ in range(steps):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def evaluate(model, generator, tasks=8):
    total = 0.0
    for _ in range(tasks):
        task, learner = Sine(generator), copy.deepcopy(model)
        adapt(learner, task, steps=8)
        x, y = task.draw(100)
        with torch.no_grad():
            total += nn.functional.mse_loss(learner(x), y).item()
    return total / tasks


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model = build()
    rounds = 150
    print(f"before: error after 8 steps on a new wave {evaluate(model, torch.Generator().manual_seed(9)):.4f}")
    for it in range(rounds):
        before = {name: w.clone() for name, w in model.state_dict().items()}
        loss = adapt(model, Sine(generator), steps=5)
        rate = 0.7 * (1 - it / rounds)
        after = model.state_dict()
        model.load_state_dict({name: w + rate * (after[name] - w) for name, w in before.items()})
        if it % 30 == 29:
            error = evaluate(model, torch.Generator().manual_seed(9))
            print(f"round {it + 1}: last task {loss:.4f}, error after 8 steps on a new wave {error:.4f}")


if __name__ == "__main__":
    main()
