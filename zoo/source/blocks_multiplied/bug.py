import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        return x + self.conv2(torch.relu(self.conv1(torch.relu(x))))


class Denoiser(nn.Module):
    def __init__(self, channels=64, blocks=6):
        super().__init__()
        block = Residual(channels)
        self.first = nn.Conv2d(3, channels, 3, padding=1)
        self.blocks = nn.Sequential(*[block for _ in range(blocks)])
        self.last = nn.Conv2d(channels, 3, 3, padding=1)

    def forward(self, noisy):
        return noisy - self.last(self.blocks(self.first(noisy)))


if __name__ == "__main__":
    model = Denoiser()
    print(sum(parameter.numel() for parameter in model.parameters()))
    print(model(torch.randn(1, 3, 32, 32)).shape)
