"""A small classifier of feature vectors, exported and quantised for ONNX Runtime."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(24, 48)
        self.head = nn.Linear(48, 10)

    def forward(self, x):
        return self.head(torch.relu(self.first(x)))


def reference():
    torch.manual_seed(0)
    return Net().eval()


def inputs():
    torch.manual_seed(1)
    return (torch.randn(8, 5, 24),)
