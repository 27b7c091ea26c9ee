"""The embedding of a transformer, and its port."""

import math

import torch
from torch import nn


class Embedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 12)
        self.positions = nn.Embedding(9, 12)
        self.head = nn.Linear(12, 5)

    def forward(self, tokens):
        places = self.positions(torch.arange(tokens.shape[1]))
        words = self.words(tokens) * math.sqrt(12)
        return self.head(words + places)


class Ported(Embedding):
    def forward(self, tokens):
        places = self.positions(torch.arange(tokens.shape[1]))
        words = self.words(tokens) * math.sqrt(12)
        return self.head(words + places)


def reference():
    torch.manual_seed(0)
    return Embedding().eval()


def port():
    model = Ported().eval()
    model.load_state_dict(reference().state_dict())
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.randint(0, 20, (2, 7)),)
