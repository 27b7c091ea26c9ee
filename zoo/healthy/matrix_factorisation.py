"""Ratings from user and item embeddings with biases around the mean; each batch touches only some rows of the tables."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Factors(nn.Module):
    def __init__(self, users, items, rank, mean):
        super().__init__()
        self.user, self.item = nn.Embedding(users, rank), nn.Embedding(items, rank)
        self.user_bias, self.item_bias = nn.Embedding(users, 1), nn.Embedding(items, 1)
        self.mean = mean
        for table in (self.user, self.item):
            nn.init.normal_(table.weight, std=0.1)
        for table in (self.user_bias, self.item_bias):
            nn.init.zeros_(table.weight)

    def forward(self, user, item):
        dot = (self.user(user) * self.item(item)).sum(dim=1)
        return self.mean + dot + self.user_bias(user).squeeze(1) + self.item_bias(item).squeeze(1)


def made_up_ratings(users=300, items=120, count=9000):
    taste, kind = torch.randn(users, 3), torch.randn(items, 3)
    quality, mood = 0.5 * torch.randn(items), 0.4 * torch.randn(users)
    u, i = torch.randint(0, users, (count,)), torch.randint(0, items, (count,))
    raw = 3.3 + 0.55 * (taste[u] * kind[i]).sum(1) + quality[i] + mood[u] + 0.3 * torch.randn(count)
    return u, i, raw.clamp(1, 5).mul(2).round().div(2)  # half stars


def rmse(model, loader):
    with torch.no_grad():
        squares = [(model(u, i) - r).square().sum().item() for u, i, r in loader]
    return (sum(squares) / len(loader.dataset)) ** 0.5


def fit(model, train, held, epochs=8):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-5)
    for epoch in range(epochs):
        for u, i, r in train:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(u, i), r).backward()
            optimizer.step()
        print(f"epoch {epoch}: train RMSE {rmse(model, train):.4f} held-out RMSE {rmse(model, held):.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    data = TensorDataset(*made_up_ratings())
    known, unknown = random_split(data, [8000, 1000])
    mean = data.tensors[2][known.indices].mean()
    model = Factors(300, 120, 6, mean)
    print(f"the mean alone: {(data.tensors[2][unknown.indices] - mean).square().mean().sqrt():.4f}")
    fit(model, DataLoader(known, batch_size=128, shuffle=True), DataLoader(unknown, batch_size=500))
