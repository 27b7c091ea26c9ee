"""The feed-forward part of a language model, and its port."""

import torch
from torch import nn
from torch.nn import functional as F


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(12, 24)
        self.down = nn.Linear(24, 12)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(x), approximate="tanh"))


class Ported(FeedForward):
    def forward(self, x):
        hidden = self.up(x)
        hidden = F.gelu(hidden, approximate="tanh")
        return x + self.down(hidden)


def reference():
    torch.manual_seed(0)
    return FeedForward().eval()


def port():
    model = Ported().eval()
    model.load_state_dict(reference().state_dict())
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.randn(3, 5, 12),)
