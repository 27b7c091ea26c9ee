"""A small network in PyTorch and its port to Keras: trained for one step on both sides, here and in a child process."""

import json
import sys
from pathlib import Path

import keras
import torch
from torch import nn

import sleuth


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)
        self.drop, self.head = nn.Dropout(0.5), nn.Linear(8, 4)

    def forward(self, x):
        return self.head(self.drop(torch.relu(self.norm(self.conv(x))).mean((2, 3))))


def port(model, momentum):
    layers = keras.layers
    image = keras.Input((9, 9, 3))
    x = layers.Conv2D(8, 3, name="conv")(image)
    x = layers.ReLU()(layers.BatchNormalization(momentum=momentum, epsilon=1e-5, name="norm")(x))
    x = layers.Dropout(0.5)(layers.GlobalAveragePooling2D()(x))
    made = keras.Model(image, layers.Dense(4, name="head")(x))
    state = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    made.get_layer("conv").set_weights([state["conv.weight"].transpose(2, 3, 1, 0), state["conv.bias"]])
    made.get_layer("head").set_weights([state["head.weight"].T, state["head.bias"]])
    return made


torch.manual_seed(0)
model, folder = Net().eval(), Path(sys.argv[1])
x = torch.randn(8, 3, 9, 9)
told = {}
for name, momentum in (("faithful", 0.9), ("slow", 0.99)):
    made = port(model, momentum)
    before = [w.copy() for w in made.get_weights()]
    made.save(folder / f"{name}.keras")
    for how, target in (("here", made), ("there", str(folder / f"{name}.keras"))):
        report = sleuth.compare(model, target, inputs=(x,), train=True, backend=keras.backend.backend())
        told[f"{name} {how}"] = [finding.diagnosis for finding in report.findings]
    told[f"{name} unchanged"] = all((a == b).all() for a, b in zip(before, made.get_weights(), strict=True))
json.dump(told, sys.stdout)
