import argparse

import torch
from torch import nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 7, stride=2, padding=3)
        self.body = nn.Conv2d(32, 64, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.body(torch.relu(self.stem(x)))).mean(dim=(2, 3))


def load(path):
    model = Backbone()
    checkpoint = torch.load(path, map_location="cpu", weights_only=True)
    state = {name.removeprefix("model."): value for name, value in checkpoint["state_dict"].items()}
    model.load_state_dict(state)
    return model.eval()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkpoint")
    model = load(parser.parse_args().checkpoint)
    with torch.no_grad():
        print(model(torch.rand(1, 3, 64, 64)))


if __name__ == "__main__":
    main()
