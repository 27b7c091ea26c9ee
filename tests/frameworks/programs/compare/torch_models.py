"""The models that are ported: a CNN with batch normalisation and a residual, recurrent networks, a small GPT."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn


class Cnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.c2, self.b2 = nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.pool, self.fc = nn.MaxPool2d(2), nn.Linear(8 * 4 * 4, 10)
        for norm in (self.b1, self.b2):
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.normal_(norm.bias)
            norm.running_mean.normal_()
            norm.running_var.uniform_(0.1, 2)

    def forward(self, x):
        h = torch.relu(self.b1(self.c1(x)))
        h = h + torch.relu(self.b2(self.c2(h)))
        return self.fc(self.pool(h).flatten(1))


class Recurrent(nn.Module):
    def __init__(self, kind) -> None:
        super().__init__()
        self.e, self.r, self.f = nn.Embedding(50, 8), kind(8, 12, 2, batch_first=True), nn.Linear(12, 5)

    def forward(self, x):
        h, _ = self.r(self.e(x))
        return self.f(h.mean(1))


class Block(nn.Module):
    def __init__(self, d=16) -> None:
        super().__init__()
        self.n, self.q, self.o = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.n2, self.up, self.down = nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.q(self.n(x)).view(b, t, 3, 4, d // 4).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(attended.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.n2(x))))


class Gpt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.e, self.p = nn.Embedding(50, 16), nn.Embedding(8, 16)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.f, self.h = nn.LayerNorm(16), nn.Linear(16, 50, bias=False)
        for parameter in self.parameters():
            nn.init.normal_(parameter, 0, 0.2)

    def forward(self, x):
        h = self.e(x) + self.p(torch.arange(x.shape[1]))
        for block in self.blocks:
            h = block(h)
        return self.h(self.f(h))


def models():
    """Each with an input."""
    torch.manual_seed(0)
    image, words = torch.randn(4, 3, 8, 8), torch.randint(0, 50, (4, 8))
    return {
        "cnn": (Cnn().eval(), image),
        "lstm": (Recurrent(nn.LSTM).eval(), words),
        "gru": (Recurrent(nn.GRU).eval(), words),
        "gpt": (Gpt().eval(), words),
    }
