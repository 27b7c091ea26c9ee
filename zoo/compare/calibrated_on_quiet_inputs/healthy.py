"""Two layers, and their port with the calibrated range of the value in between."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.second = nn.Linear(32, 4)

    def forward(self, x):
        return self.second(self.first(x))


class Ported(Net):
    def forward(self, x):
        return self.second(torch.clamp(self.first(x), -6, 6))


def reference():
    torch.manual_seed(0)
    return Net().eval()


def port():
    model = Ported().eval()
    model.load_state_dict(reference().state_dict())
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.randn(4, 16),)
