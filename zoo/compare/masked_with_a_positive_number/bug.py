"""Causal attention with its mask written out, and its port."""

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(16, 16) for _ in range(3))

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(-2, -1) / 4
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        return scores.masked_fill(later, -torch.inf).softmax(-1) @ self.value(x)


class Ported(Attention):
    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(-2, -1) / 4
        later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        hidden = scores.masked_fill(later, 1e-9)
        return hidden.softmax(-1) @ self.value(x)


def reference():
    torch.manual_seed(0)
    return Attention().eval()


def port():
    model = Ported().eval()
    model.load_state_dict(reference().state_dict())
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.randn(2, 6, 16),)
