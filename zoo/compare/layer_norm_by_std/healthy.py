"""A block of a transformer, and its port with a LayerNorm of its own."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(12, eps=1e-6)
        self.feed = nn.Linear(12, 12)

    def forward(self, x):
        return x + self.feed(self.norm(x))


class LayerNorm(nn.Module):
    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return self.weight * (x - mean) / (x.var(-1, correction=0, keepdim=True) + self.eps).sqrt() + self.bias


class Ported(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = LayerNorm(12)
        self.feed = nn.Linear(12, 12)

    def forward(self, x):
        return x + self.feed(self.norm(x))


def reference():
    torch.manual_seed(0)
    model = Block()
    nn.init.normal_(model.norm.weight, 1, 0.2)
    nn.init.normal_(model.norm.bias, 0, 0.2)
    return model.eval()


def port():
    model = Ported().eval()
    model.load_state_dict(reference().state_dict())
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.randn(3, 5, 12),)
