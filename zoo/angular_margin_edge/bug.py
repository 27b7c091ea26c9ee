import argparse
import math

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class AngularMargin(nn.Module):
    def __init__(self, classes, margin=0.2, scale=8.0):
        super().__init__()
        self.register_buffer("centres", torch.eye(classes))  # as far apart as they can be
        self.margin, self.scale = margin, scale

    def forward(self, emb, label):
        cosine = F.linear(F.normalize(emb), self.centres).clamp(-1.0, 1.0)
        theta = torch.acos(cosine)
        hit = F.one_hot(label, cosine.shape[1]).bool()
        theta = torch.where(hit, (theta + self.margin).clamp(max=math.pi), theta)
        return F.cross_entropy(self.scale * theta.cos(), label)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--lr", type=float, default=0.3)
    args = parser.parse_args()

    torch.manual_seed(0)
    label = torch.arange(120) % 3
    x = F.one_hot(label, 3).float() + 0.05 * torch.randn(120, 3)
    backbone = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    margin = AngularMargin(3)
    optimizer = torch.optim.SGD(backbone.parameters(), lr=args.lr)
    loader = DataLoader(TensorDataset(x, label), batch_size=40, shuffle=True)
    for epoch in range(args.epochs):
        for xb, yb in loader:
            loss = margin(backbone(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 10 == 0:
            print("epoch", epoch, "loss", round(loss.item(), 5))


if __name__ == "__main__":
    main()
