"""A small classifier, and its port that loads matrices from a Keras file."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(10, 16)
        self.mix = nn.Linear(16, 16)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        hidden = torch.tanh(self.embed(x))
        hidden = torch.tanh(self.mix(hidden))
        return self.head(hidden)


class Ported(Classifier):
    def forward(self, x):
        hidden = self.embed(x).tanh()
        hidden = self.mix(hidden).tanh()
        return self.head(hidden)


def reference():
    torch.manual_seed(0)
    return Classifier().eval()


def port():
    original, model = reference(), Ported()
    for layer, source in zip(model.children(), original.children(), strict=True):
        matrix = source.weight.detach().T  # in, out: as Keras saves it
        layer.weight.data = matrix if matrix.shape == layer.weight.shape else matrix.T
        layer.bias.data = source.bias.data
    return model.eval()


def inputs():
    torch.manual_seed(1)
    return (torch.randn(8, 10),)
