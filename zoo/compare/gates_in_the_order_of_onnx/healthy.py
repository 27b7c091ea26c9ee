"""A classifier of sequences, and its port with converted weights."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 8, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        outputs, _ = self.lstm(x)
        return self.head(outputs[:, -1])


class Ported(Classifier):
    def forward(self, x):
        outputs, _ = self.lstm(x)
        return self.head(outputs[:, -1])


def converted(weights):
    def gates(rows):
        i, f, g, o = rows.chunk(4)
        return torch.cat([i, f, g, o])

    return {name: gates(one) if name.startswith("lstm") else one for name, one in weights.items()}


def reference():
    torch.manual_seed(0)
    return Classifier().eval()


def port():
    model = Ported().eval()
    model.load_state_dict(converted(reference().state_dict()))
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.randn(3, 5, 6),)
