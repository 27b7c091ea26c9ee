import argparse
from pathlib import Path

import torch
from torch import nn


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", type=Path, default=Path(__file__).with_name("pretrained.pt"))
    parser.add_argument("--steps", type=int, default=10)
    return parser.parse_args()


def build(weights, device):
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    model.load_state_dict(torch.load(weights, map_location=device))
    return model.to(device)


def finetune(model, steps, device):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(steps):
        x = torch.randn(16, 4, device=device)
        loss = nn.functional.cross_entropy(model(x), (x[:, 0] > x[:, 1]).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())


if __name__ == "__main__":
    args = options()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    finetune(build(args.weights, device), args.steps, device)
