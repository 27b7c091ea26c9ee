"""A small language model, and its port."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, bias=True):
        super().__init__()
        self.words = nn.Embedding(20, 16)
        self.mix = nn.Linear(16, 16)
        self.head = nn.Linear(16, 20, bias=bias)

    def forward(self, tokens):
        return self.head(torch.tanh(self.mix(self.words(tokens))))


class Ported(Model):
    def __init__(self):
        super().__init__(bias=False)

    def forward(self, tokens):
        hidden = self.mix(self.words(tokens)).tanh()
        return self.head(hidden)


def reference():
    torch.manual_seed(0)
    return Model().eval()


def port():
    model = Ported().eval()
    model.load_state_dict(reference().state_dict(), strict=False)
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.randint(0, 20, (2, 7)),)
