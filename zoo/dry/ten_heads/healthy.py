import argparse

import torch
from torch import nn


def parse():
    parser = argparse.ArgumentParser(description="time series transformer")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--steps", type=int, default=8)
    return parser.parse_args()


class Series(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.lift = nn.Linear(1, width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        x = self.lift(x)
        attended, _ = self.attention(x, x, x, need_weights=False)
        return self.out(self.norm(x + attended))


args = parse()
torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Series(args.width, args.heads).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(args.steps):
    wave = torch.sin(torch.rand(16, 1, 1) * 6 + torch.linspace(0, 9, 33)[None, :, None]).to(device)
    loss = nn.functional.mse_loss(model(wave[:, :-1]), wave[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
