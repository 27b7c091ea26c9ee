import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width)
        self.v = nn.Linear(width, width)

    def forward(self, x, mask):
        scores = self.q(x) @ self.k(x).transpose(-1, -2) / math.sqrt(x.shape[-1])
        bias = (1.0 - mask[:, None, :].float()) * torch.finfo(scores.dtype).min
        scores = scores + bias.to(scores.dtype)
        return scores.softmax(dim=-1) @ self.v(x)


class Model(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.inp = nn.Linear(3, width)
        self.attn = Attention(width)
        self.out = nn.Linear(width, 1)

    def forward(self, x, mask):
        h = self.inp(x)
        h = h + self.attn(h, mask)
        return self.out(h).squeeze(-1)


def make_batch(i, size=12, length=6):
    x = torch.randn(size, length, 3)
    mask = torch.ones(size, length)
    if i >= 5:
        mask[i % size] = 0  # a slot of the batch that was never filled
    return x, mask, x.sum(-1)


def main():
    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for i in range(15):
        x, mask, y = make_batch(i)
        with torch.autocast("cpu", dtype=torch.float16):
            prediction = model(x, mask)
        loss = (((prediction.float() - y) ** 2) * mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {i}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
