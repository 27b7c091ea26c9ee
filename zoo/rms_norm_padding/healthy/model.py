import torch
from torch import nn

from .layers import RMSNorm


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = RMSNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class TinyTagger(nn.Module):
    def __init__(self, vocab, tags, pad, width=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, width, padding_idx=pad)
        self.blocks = nn.ModuleList([Block(width) for _ in range(2)])
        self.head = nn.Linear(width, tags)

    def forward(self, words):
        x = self.embed(words)
        for block in self.blocks:
            x = block(x)
        return self.head(x)
