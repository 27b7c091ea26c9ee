"""A convolution and a dense layer, and their port."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.head = nn.Linear(256, 5)

    def forward(self, x):
        features = self.conv(x)
        return self.head(features.flatten(1))


class Ported(Net):
    def forward(self, x):
        features = self.conv(x)
        flat = features.permute(0, 2, 3, 1).flatten(1)
        return self.head(flat)


def reference():
    torch.manual_seed(0)
    return Net().eval()


def port():
    model = Ported().eval()
    model.load_state_dict(reference().state_dict())
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.rand(2, 3, 8, 8),)
