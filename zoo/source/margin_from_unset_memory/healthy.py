import torch
import torch.nn.functional as F
from torch import nn


class Ranker(nn.Module):
    def __init__(self, features, width=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, items):
        return self.net(items).squeeze(-1)


def ranking_loss(better, worse):
    """The better one is to be ahead by a margin of 1."""
    gap = better - worse
    return F.relu(torch.tensor(1.0) - gap).mean()


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Ranker(12)
    pairs = torch.randn(2, 64, 12)
    print(ranking_loss(model(pairs[0]), model(pairs[1])))
