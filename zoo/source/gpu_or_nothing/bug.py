import torch
import torch.nn.functional as F
from torch import nn


def rings(n):
    angle = 6.28 * torch.rand(n)
    label = torch.randint(0, 2, (n,))
    radius = 1.0 + label + 0.1 * torch.randn(n)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1), label


def main():
    net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2)).cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step in range(300):
        x, y = rings(128)
        loss = F.cross_entropy(net(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
