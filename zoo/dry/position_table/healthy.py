import math

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, dim, longest=100):
        super().__init__()
        position = torch.arange(longest).unsqueeze(1)
        frequency = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        pe = torch.zeros(longest, dim)
        pe[:, 0::2] = torch.sin(position * frequency)
        pe[:, 1::2] = torch.cos(position * frequency)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(1)]


class Copier(nn.Module):
    def __init__(self, symbols=12, dim=16):
        super().__init__()
        self.embed = nn.Embedding(symbols, dim)
        self.position = PositionalEncoding(dim)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(dim, 4, 32, 0.0, batch_first=True), 1)
        self.out = nn.Linear(dim, symbols)

    def forward(self, symbols):
        return self.out(self.encoder(self.position(self.embed(symbols))))


def main(steps=12):
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Copier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step in range(steps):
        x = torch.randint(12, (16, 10), device=device)
        loss = nn.functional.cross_entropy(model(x).transpose(1, 2), x.flip(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(step, loss.item())


if __name__ == "__main__":
    main()
