import math

import torch
from torch import nn

LARGEST = 500.0


class Detector(nn.Module):
    def __init__(self, channels=64, anchors=5):
        super().__init__()
        self.shared = nn.Conv2d(channels, channels, 3, padding=1)
        self.centre = nn.Conv2d(channels, 2 * anchors, 1)
        self.size = nn.Conv2d(channels, 2 * anchors, 1)

    def forward(self, features, prior):
        h = torch.relu(self.shared(features))
        centre = self.centre(h).sigmoid()
        scale = torch.clamp(self.size(h), max=math.log(LARGEST)).exp()
        return centre, prior * scale


detector = Detector()
optimizer = torch.optim.SGD(detector.parameters(), lr=0.1)
centre, size = detector(torch.randn(2, 64, 8, 8), torch.ones(1, 10, 1, 1))
loss = (size - 1.0).abs().mean() + (centre - 0.5).abs().mean()
loss.backward()
optimizer.step()
