import torch
from torch import nn


class GroupedBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.expand = nn.Conv2d(24, 36, kernel_size=1)
        self.spatial = nn.Conv2d(36, 36, kernel_size=3, padding=1, groups=9)
        self.project = nn.Conv2d(36, 24, kernel_size=1)
        self.norm = nn.GroupNorm(4, 24)

    def forward(self, x):
        inner = torch.relu(self.expand(x))
        inner = torch.relu(self.spatial(inner))
        return x + self.norm(self.project(inner))


if __name__ == "__main__":
    print(GroupedBlock()(torch.randn(1, 24, 16, 16)).shape)
