"""A network in the manner of a ResNet; other names can be imported, and nobody calls them."""

from __future__ import annotations

from typing import Any

from torch import nn


class _Block(nn.Module):
    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = nn.Conv2d(channels_in, channels, 1, stride, bias=False)

    def forward(self, x: Any) -> Any:
        return self.relu(self.bn1(self.conv1(x)) + self.downsample(x))


def resnet18(weights: Any = None, num_classes: int = 1000, **_: Any) -> nn.Module:
    network = nn.Sequential()
    network.add_module("conv1", nn.Conv2d(3, 64, 7, 2, 3, bias=False))
    network.add_module("bn1", nn.BatchNorm2d(64))
    network.add_module("relu", nn.ReLU(inplace=True))
    network.add_module("maxpool", nn.MaxPool2d(3, 2, 1))
    for number, (channels_in, channels) in enumerate([(64, 64), (64, 128), (128, 256), (256, 512)], 1):
        network.add_module(f"layer{number}", _Block(channels_in, channels, 1 if number == 1 else 2))
    network.add_module("avgpool", nn.AdaptiveAvgPool2d(1))
    network.add_module("flatten", nn.Flatten())
    network.add_module("fc", nn.Linear(512, num_classes))
    return network


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return type(name, (), {})
