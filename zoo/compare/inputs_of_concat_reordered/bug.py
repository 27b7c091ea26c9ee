"""Two branches that are joined, and their port."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(16, 8)
        self.right = nn.Linear(16, 8)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(torch.cat([torch.relu(self.left(x)), self.right(x)], -1))


class Ported(Net):
    def forward(self, x):
        left, right = torch.relu(self.left(x)), self.right(x)
        both = torch.cat([right, left], -1)
        return self.head(both)


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
