"""A classifier with batch normalisation, and its port."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, **norm):
        super().__init__()
        self.embed = nn.Linear(10, 16)
        self.norm = nn.BatchNorm1d(16, **norm)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.embed(x))))


class Ported(Classifier):
    def __init__(self):
        super().__init__(track_running_stats=True)

    def forward(self, x):
        hidden = self.embed(x)
        hidden = self.norm(hidden)
        return self.head(hidden.relu())


def reference():
    torch.manual_seed(0)
    model = Classifier()
    for _ in range(20):
        model(1 + 2 * torch.randn(32, 10))
    return model.eval()


def port():
    model = Ported().eval()
    model.load_state_dict(reference().state_dict(), strict=False)
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.randn(8, 10),)
