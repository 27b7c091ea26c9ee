"""An image classifier, and its port that loads kernels from a Keras file."""

import torch
from torch import nn


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 5, (3, 3), padding=1)
        self.second = nn.Conv2d(5, 7, (3, 3), padding=1)
        self.head = nn.Linear(7, 4)

    def forward(self, image):
        features = torch.relu(self.first(image))
        features = torch.relu(self.second(features))
        return self.head(features.mean((2, 3)))


class Ported(Network):
    def forward(self, image):
        features = self.first(image).relu()
        features = self.second(features).relu()
        return self.head(features.mean((2, 3)))


def reference():
    torch.manual_seed(0)
    return Network().eval()


def saved():
    """The kernels as Keras saves them: height, width, in, out."""
    model = reference()
    return [layer.weight.detach().permute(2, 3, 1, 0) for layer in (model.first, model.second)]


def port():
    model = Ported()
    model.load_state_dict(reference().state_dict())
    for layer, kernel in zip((model.first, model.second), saved(), strict=True):
        layer.weight.data = kernel.permute(3, 2, 1, 0).contiguous()
    return model.eval()


def inputs():
    torch.manual_seed(1)
    return (torch.randn(2, 3, 8, 10),)
