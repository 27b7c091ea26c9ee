import math

import torch
from torch import nn


def init_weights(module):
    if isinstance(module, nn.Linear):
        fan_in = torch.tensor(float(module.in_features))
        std = torch.sqrt(2.0 / fan_in)
        with torch.no_grad():
            module.weight.normal_().mul_(std)
            module.bias.zero_()


class TimeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = nn.Linear(4, 32)
        self.time = nn.Linear(1, 32)
        self.out = nn.Linear(32, 4)
        self.apply(init_weights)

    def forward(self, x, t):
        h = torch.tanh(self.state(x))
        return self.out(h * self.time(t))


def main():
    torch.manual_seed(0)
    net = TimeNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(25):
        x, t = torch.randn(32, 4), torch.rand(32, 1)
        target = x * torch.cos(math.pi * t)
        loss = nn.functional.mse_loss(net(x, t), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
