"""A triplet loss through cdist and norm, which torch gives a zero gradient at distance 0, hardest pairs by -inf and inf."""

import torch
from torch import nn
from torch.nn import functional as F


def batch_hard(embedding, label, margin=0.5):
    distance = torch.cdist(embedding, embedding)
    same = label[:, None] == label[None]
    furthest = distance.masked_fill(~same, float("-inf")).amax(dim=1)
    nearest = distance.masked_fill(same, float("inf")).amin(dim=1)
    return F.relu(furthest - nearest + margin).mean()


def main():
    torch.manual_seed(1)
    centres = torch.randn(4, 10)
    net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for step in range(40):
        label = torch.arange(24) % 4
        x = centres[label] + torch.randn(24, 10)
        x[1] = x[5]  # the same picture twice
        embedding = F.normalize(net(x), dim=1)
        loss = batch_hard(embedding, label) + 1e-3 * (embedding[1] - embedding[5]).norm()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step}: {loss.item():.4f}")


main()
