"""A small image classifier, and its port that converts the kernels on loading."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3)
        self.head = nn.Linear(6, 4)

    def forward(self, image):
        features = torch.tanh(self.conv(image))
        return self.head(features.mean((2, 3)))


class Ported(Classifier):
    def forward(self, image):
        features = self.conv(image).tanh()
        return self.head(features.mean((2, 3)))


def converted(kernel):
    return kernel.flip(2, 3)


def reference():
    torch.manual_seed(0)
    return Classifier().eval()


def port():
    weights = reference().state_dict()
    weights["conv.weight"] = converted(weights["conv.weight"])
    model = Ported().eval()
    model.load_state_dict(weights)
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.randn(2, 3, 9, 9),)
