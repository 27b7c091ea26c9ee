"""Features that are enlarged, and their port."""

import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.head = nn.Linear(1024, 5)

    def forward(self, x):
        features = self.conv(x)
        large = F.interpolate(features, scale_factor=2, mode="bilinear")
        return self.head(large.flatten(1))


class Ported(Net):
    def forward(self, x):
        features = self.conv(x)
        large = F.interpolate(features, scale_factor=2, mode="bilinear", align_corners=False)
        return self.head(large.flatten(1))


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
