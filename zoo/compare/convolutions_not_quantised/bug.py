"""An image classifier that is to run on a small machine."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 32, 3)
        self.second = nn.Conv2d(32, 64, 3)
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        x = torch.relu(self.second(torch.relu(self.first(x))))
        return self.head(x.mean((2, 3)))


def reference():
    torch.manual_seed(0)
    return Net().eval()


def inputs():
    torch.manual_seed(1)
    return (torch.randn(8, 3, 8, 8),)
