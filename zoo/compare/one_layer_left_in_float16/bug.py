"""Two layers, and their port."""

import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.second = nn.Linear(32, 4)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


class Ported(Net):
    def forward(self, x):
        weight, bias = self.first.weight.half(), self.first.bias.half()
        hidden = F.linear(x.half(), weight, bias)
        return self.second(torch.relu(hidden).float())


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
