import argparse

import torch
import torch.nn.functional as F
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    args = parser.parse_args()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 4))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    if args.resume:
        saved = torch.load(args.resume, map_location="cpu", weights_only=True)
        net.load_state_dict(saved["net"])
        optimizer.load_state_dict(saved["optimizer"])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    net.to(device)
    for step in range(1000):
        x = torch.randn(64, 20, device=device)
        y = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, "last.pt")


if __name__ == "__main__":
    main()
