"""A small classifier, and its port with a layer renamed."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(10, 16)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(torch.tanh(self.embed(x)))


class Ported(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(10, 16)
        self.classifier = nn.Linear(16, 4)

    def forward(self, x):
        hidden = self.embed(x).tanh()
        return self.classifier(hidden)


def reference():
    torch.manual_seed(0)
    return Classifier().eval()


def port():
    weights = reference().state_dict()
    torch.manual_seed(5)
    model = Ported().eval()
    model.load_state_dict(weights, strict=False)
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.randn(8, 10),)
