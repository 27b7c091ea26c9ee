"""A block of a language model, and its port."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, eps=1e-5):
        super().__init__()
        self.words = nn.Embedding(20, 16)
        self.norm = nn.RMSNorm(16, eps=eps)
        self.feed = nn.Linear(16, 16)

    def forward(self, tokens):
        hidden = 0.1 * self.words(tokens)
        return hidden + self.feed(self.norm(hidden))


class Ported(Block):
    def __init__(self):
        super().__init__(eps=1e-6)

    def forward(self, tokens):
        hidden = 0.1 * self.words(tokens)
        normalised = self.norm(hidden)
        return hidden + self.feed(normalised)


def reference():
    torch.manual_seed(0)
    return Block().eval()


def port():
    model = Ported().eval()
    model.load_state_dict(reference().state_dict())
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.randint(0, 20, (2, 7)),)
