import random

import torch
from torch import nn


class SegNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        return self.conv2(torch.relu(self.conv1(x))).squeeze(1)


def random_crop(image, depth, size, rng):
    r, c = rng.randrange(32 - size), rng.randrange(32 - size)
    return image[r : r + size, c : c + size], depth[r : r + size, c : c + size]


def main():
    torch.manual_seed(0)
    rng = random.Random(3)
    image = 0.1 * torch.randn(32, 32)
    depth = torch.zeros(32, 32)
    depth[8:24, 8:24] = torch.linspace(1, 2, 16)
    image += depth
    net = SegNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(40):
        crop, truth = random_crop(image, depth, 8, rng)
        foreground = truth > 0
        predicted = net(crop[None, None])[0]
        loss = (predicted - truth).abs()[foreground].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"{step:03d} masked L1 {loss.item():.4f}")


if __name__ == "__main__":
    main()
