"""A replay memory and a queue of keys made with torch.empty, read only where they have been filled."""

import random

import torch
from torch import nn


class Replay:
    def __init__(self, capacity, width):
        self.states = torch.empty(capacity, width)
        self.rewards = torch.empty(capacity)
        self.size = self.next = 0

    def push(self, state, reward):
        self.states[self.next], self.rewards[self.next] = state, reward
        self.next = (self.next + 1) % len(self.states)
        self.size = min(self.size + 1, len(self.states))

    def sample(self, count):
        rows = torch.tensor([random.randrange(self.size) for _ in range(count)])
        return self.states[rows], self.rewards[rows]


def main():
    random.seed(0)
    torch.manual_seed(0)
    memory = Replay(500, 4)
    critic = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
    scratch = torch.empty(16)
    optimizer = torch.optim.Adam(critic.parameters(), lr=5e-3)
    for step in range(120):
        state = torch.randn(4)
        memory.push(state, state.sum().item())
        if step < 16:
            continue
        states, rewards = memory.sample(16)
        torch.sub(critic(states).detach().squeeze(1), rewards, out=scratch)
        loss = nn.functional.smooth_l1_loss(critic(states).squeeze(1), rewards)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f} bias {scratch.mean().item():+.3f}")


if __name__ == "__main__":
    main()
