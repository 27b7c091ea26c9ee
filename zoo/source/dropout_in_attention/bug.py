import math

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads, drop=0.1):
        super().__init__()
        self.heads = heads
        self.drop = drop
        self.qkv = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).reshape(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        weights = scores.softmax(dim=-1)
        weights = F.dropout(weights, self.drop)
        mixed = (weights @ v).transpose(1, 2).reshape(batch, length, width)
        return self.project(mixed)


class Block(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.attend = Attention(width, heads)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return x + self.attend(self.norm(x))


if __name__ == "__main__":
    block = Block().eval()
    with torch.no_grad():
        print(block(torch.ones(1, 5, 64)).sum())
