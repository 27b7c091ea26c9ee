"""A small convolutional network, written anew with the defaults of the library it came from."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3)
        self.norm = nn.BatchNorm2d(6)
        self.head = nn.Linear(6, 4)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.conv(x))).mean((2, 3)))


class PortedNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3)
        self.norm = nn.BatchNorm2d(6, momentum=0.1)
        self.head = nn.Linear(6, 4)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.conv(x))).mean((2, 3)))


def reference():
    torch.manual_seed(0)
    return Net().eval()


def port():
    model = PortedNet().eval()
    model.load_state_dict(reference().state_dict())
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.randn(8, 1, 9, 9),)
