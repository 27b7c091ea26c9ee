import matplotlib.pyplot as plt
import torch
from torch import nn


class Pooling(nn.Module):
    """Weighs the frames of a clip."""

    def __init__(self, width):
        super().__init__()
        self.score = nn.Linear(width, 1)

    def forward(self, frames):
        weights = torch.softmax(self.score(frames).squeeze(-1), dim=-1)
        return (weights.unsqueeze(-1) * frames).sum(dim=1), weights


def main():
    torch.manual_seed(0)
    pooling = Pooling(16)
    clip = torch.randn(1, 24, 16)
    _, weights = pooling(clip)
    plt.bar(range(24), weights[0].numpy())
    plt.savefig("weights.png")


if __name__ == "__main__":
    main()
