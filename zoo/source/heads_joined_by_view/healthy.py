import math

import torch
from torch import nn


class MultiHead(nn.Module):
    def __init__(self, width=64, heads=8):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q_proj = nn.Linear(width, width)
        self.k_proj = nn.Linear(width, width)
        self.v_proj = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, self.size).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.q_proj(x)), self.split(self.k_proj(x)), self.split(self.v_proj(x))
        weights = torch.softmax(torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.size), dim=-1)
        context = torch.matmul(weights, v).permute(0, 2, 1, 3)
        context = context.reshape(x.size(0), x.size(1), self.heads * self.size)
        return self.out(context)


if __name__ == "__main__":
    print(MultiHead()(torch.randn(2, 10, 64)).shape)
