import torch
from torch import nn


class SmallUNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.down1 = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU())
        self.down2 = nn.Sequential(nn.Conv2d(32, 64, 3, padding=1), nn.ReLU())
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ConvTranspose2d(64, 32, 2, stride=2)
        self.merge = nn.Conv2d(64, 32, 3, padding=1)
        self.out = nn.Conv2d(32, classes, 1)

    def forward(self, image):
        fine = self.down1(image)
        coarse = self.down2(self.pool(fine))
        joined = torch.cat([self.up(coarse), fine], dim=1)
        return self.out(torch.relu(self.merge(joined)))


if __name__ == "__main__":
    model = SmallUNet(classes=5)
    print(model(torch.rand(2, 3, 64, 64)).shape)
