import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, pixels, code):
        super(Encoder, self).__init__()
        self.net = nn.Sequential(nn.Linear(pixels, 128), nn.ReLU(), nn.Linear(128, code))

    def forward(self, x):
        return self.net(x.flatten(1))


class AutoEncoder(nn.Module):
    """Squeezes an image through a few numbers and paints it anew."""

    def __init__(self, pixels=784, code=16):
        super().__init__()
        self.pixels = pixels
        self.encoder = Encoder(pixels, code)
        self.decoder = nn.Sequential(nn.Linear(code, 128), nn.ReLU(), nn.Linear(128, pixels), nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x)).view_as(x)


if __name__ == "__main__":
    model = AutoEncoder()
    image = torch.rand(8, 1, 28, 28)
    print(nn.functional.mse_loss(model(image), image))
