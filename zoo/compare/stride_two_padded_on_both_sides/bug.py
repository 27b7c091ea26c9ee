"""The first layers of a network from TensorFlow, and their port."""

import torch
from torch import nn
from torch.nn import functional as F


class Original(nn.Module):
    """With TensorFlow's SAME padding written out."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 6, 3, stride=2)
        self.head = nn.Linear(6, 4)

    def forward(self, image):
        features = self.stem(F.pad(image, (0, 1, 0, 1)))
        return self.head(torch.relu(features).mean((2, 3)))


class Ported(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 6, 3, stride=2, padding=1)
        self.head = nn.Linear(6, 4)

    def forward(self, image):
        features = self.stem(image)
        return self.head(torch.relu(features).mean((2, 3)))


def reference():
    torch.manual_seed(0)
    return Original().eval()


def port():
    model = Ported().eval()
    model.load_state_dict(reference().state_dict())
    return model


def inputs():
    torch.manual_seed(1)
    return (torch.randn(2, 3, 16, 16),)
