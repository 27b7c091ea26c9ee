"""A small residual network, written anew for another code base with the old weights."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.expand = nn.Linear(16, 16)
        self.mix = nn.Linear(16, 16)

    def forward(self, x):
        hidden = torch.relu(self.expand(x))
        return hidden + torch.tanh(self.mix(hidden))


class PortedBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.expand = nn.Linear(16, 16)
        self.mix = nn.Linear(16, 16)

    def forward(self, x):
        hidden = torch.relu(self.expand(x))
        return x + torch.tanh(self.mix(hidden))


def reference():
    torch.manual_seed(0)
    return Block().eval()


def port():
    model = PortedBlock().eval()
    model.load_state_dict(reference().state_dict())
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.randn(8, 16),)
