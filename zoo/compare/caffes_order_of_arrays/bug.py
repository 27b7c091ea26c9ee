"""A classifier with batch normalisation, and its port that loads a list of arrays."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3)
        self.norm = nn.BatchNorm2d(6)
        self.head = nn.Linear(6, 4)

    def forward(self, image):
        features = self.norm(torch.relu(self.conv(image)))
        return self.head(torch.tanh(features).mean((2, 3)))


class Ported(Classifier):
    def forward(self, image):
        features = self.conv(image).relu()
        features = self.norm(features).tanh()
        return self.head(features.mean((2, 3)))


def reference():
    torch.manual_seed(0)
    model = Classifier()
    for _ in range(20):
        model(2 + torch.randn(8, 3, 8, 8))
    return model.eval()


def saved(norm):
    """Scale, shift, mean and variance, as they stand in the file."""
    return [norm.weight.data, norm.bias.data, norm.running_mean, norm.running_var]


def port():
    model = Ported()
    model.load_state_dict(reference().state_dict())
    norm = model.norm
    norm.weight.data, norm.bias.data, norm.running_var, norm.running_mean = saved(reference().norm)
    return model.eval()


def inputs():
    torch.manual_seed(1)
    return (torch.randn(2, 3, 9, 9),)
