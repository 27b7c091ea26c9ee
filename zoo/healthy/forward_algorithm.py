"""A hidden Markov model trained through logsumexp, with impossible transitions as -inf."""

import torch
from torch import nn


class HMM(nn.Module):
    """Left to right: a state may stay or go to the next one."""

    def __init__(self, states=4, symbols=5):
        super().__init__()
        self.move = nn.Parameter(torch.randn(states, states))
        self.emit = nn.Parameter(torch.randn(states, symbols))
        allowed = torch.eye(states) + torch.diag(torch.ones(states - 1), 1)
        self.register_buffer("forbidden", allowed == 0)

    def forward(self, sequences):
        move = self.move.masked_fill(self.forbidden, float("-inf")).log_softmax(dim=1)
        emit = self.emit.log_softmax(dim=1)
        alpha = torch.full((sequences.shape[0], emit.shape[0]), -1e4)
        alpha[:, 0] = 0.0
        alpha = alpha + emit[:, sequences[:, 0]].T
        for t in range(1, sequences.shape[1]):
            alpha = torch.logsumexp(alpha.unsqueeze(2) + move, dim=1) + emit[:, sequences[:, t]].T
        return -torch.logsumexp(alpha, dim=1).mean()


def main():
    torch.manual_seed(2)
    position = torch.arange(10).expand(40, 10)
    sequences = (position // 2 + (torch.rand(40, 10) < 0.1)).clamp(max=4)
    model = HMM()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for step in range(40):
        loss = model(sequences)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:2d}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
