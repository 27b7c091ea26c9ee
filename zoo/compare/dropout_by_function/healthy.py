"""Two layers with dropout in between, and their port."""

import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.dropout = nn.Dropout(0.3)
        self.second = nn.Linear(32, 4)

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        return self.second(self.dropout(hidden))


class Ported(Net):
    def forward(self, x):
        hidden = torch.relu(self.first(x))
        dropped = F.dropout(hidden, 0.3, training=self.training)
        return self.second(dropped)


def reference():
    torch.manual_seed(0)
    return Net().eval()


def port():
    model = Ported().eval()
    model.load_state_dict(reference().state_dict())
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.randn(8, 16),)
