import argparse

import torch
from torch import nn


def parse_args():
    parser = argparse.ArgumentParser(description="Poisson regression of bike rentals")
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def make_rentals(n=500):
    weather = torch.randn(n, 3)
    rate = torch.exp(0.8 * weather[:, 0] - 0.6 * weather[:, 1])
    return weather, torch.poisson(rate)


def poisson_nll(rate, count):
    return (rate - count * rate.log()).mean()


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    weather, count = make_rentals()
    model = nn.Linear(3, 1)
    nn.init.zeros_(model.weight)
    nn.init.constant_(model.bias, 1.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        order = torch.randperm(len(weather))
        for start in range(0, len(weather), args.batch_size):
            idx = order[start : start + args.batch_size]
            rate = model(weather[idx]).squeeze(-1)
            loss = poisson_nll(rate, count[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
