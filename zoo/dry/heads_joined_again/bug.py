from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    vocabulary: int = 40
    context: int = 16
    width: int = 24
    heads: int = 4
    batch: int = 8
    steps: int = 12


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.project = nn.Linear(config.width, config.width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).split(c, dim=2)
        q, k, v = (part.view(b, t, self.heads, c // self.heads).transpose(1, 2) for part in (q, k, v))
        weights = (q @ k.transpose(-2, -1)).div((c // self.heads) ** 0.5)
        weights = weights.masked_fill(torch.ones(t, t, device=x.device).triu(1).bool(), float("-inf"))
        y = F.softmax(weights, dim=-1) @ v
        y = y.transpose(1, 2)
        return self.project(y.view(b, t, c))


class Language(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.tokens = nn.Embedding(config.vocabulary, config.width)
        self.positions = nn.Embedding(config.context, config.width)
        self.attention = Attention(config)
        self.norm = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary)

    def forward(self, index):
        x = self.tokens(index) + self.positions(torch.arange(index.size(1), device=index.device))
        x = x + self.attention(self.norm(x))
        return self.head(x)


def get_batch(text, config, device):
    starts = torch.randint(len(text) - config.context - 1, (config.batch,))
    x = torch.stack([text[i : i + config.context] for i in starts])
    y = torch.stack([text[i + 1 : i + config.context + 1] for i in starts])
    return x.to(device), y.to(device)


config = Config()
torch.manual_seed(1337)
device = "cuda" if torch.cuda.is_available() else "cpu"
text = torch.randint(config.vocabulary, (2000,))
model = Language(config).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(config.steps):
    x, y = get_batch(text, config, device)
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
print(loss.item())
