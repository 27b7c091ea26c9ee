import math

import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, width, block):
        super().__init__()
        self.key = nn.Linear(width, width)
        self.query = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.register_buffer("bias", torch.triu(torch.full((block, block), -1e9), diagonal=1))

    def forward(self, x):
        length, width = x.size(1), x.size(2)
        scores = self.query(x) @ self.key(x).transpose(-2, -1) / math.sqrt(width)
        scores = scores + self.bias[:length, :length]
        return torch.softmax(scores, dim=-1) @ self.value(x)


class TinyModel(nn.Module):
    def __init__(self, vocabulary, width=128, block=64):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.attend = CausalAttention(width, block)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.embed(tokens)
        return self.head(x + self.attend(x))


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = TinyModel(1000).to(device)
    tokens = torch.randint(0, 1000, (4, 32), device=device)
    print(model(tokens).shape)
