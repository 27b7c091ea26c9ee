import torch
from torch import nn


def conv_bn(channels_in, channels_out, kernel, stride):
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_out, kernel, stride=stride, padding="same", bias=False),
        nn.BatchNorm2d(channels_out),
        nn.ReLU(inplace=True),
    )


class Stem(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 32, kernel_size=(3, 3), stride=(2, 2), padding=1)
        self.second = conv_bn(32, 64, 3, 1)

    def forward(self, image):
        return self.second(torch.relu(self.first(image)))


if __name__ == "__main__":
    print(Stem()(torch.rand(1, 3, 224, 224)).shape)
