import torch
import torch.nn.functional as F
from torch import nn


class RatingModel(nn.Module):
    def __init__(self, users, films, dim=8):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.film = nn.Embedding(films, dim)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, user, film):
        return self.mlp(torch.cat([self.user(user), self.film(film)], dim=1)).squeeze(1)


def ratings(n, users, films):
    taste, kind = torch.randn(users), torch.randn(films)
    user, film = torch.randint(0, users, (n,)), torch.randint(0, films, (n,))
    return user, film, taste[user] + kind[film] + 0.1 * torch.randn(n)


def batch_loss(model, user, film, stars):
    predicted = model(user, film)
    error = F.mse_loss(predicted, stars)
    offset = (predicted.mean() - stars.mean()).abs()
    return error + 0.1 * offset


torch.manual_seed(1)
user, film, stars = ratings(2000, users=60, films=40)
model = RatingModel(users=60, films=40)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(10):
    total = 0.0
    for index in torch.randperm(len(user)).split(100):
        optimizer.zero_grad()
        loss = batch_loss(model, user[index], film[index], stars[index])
        loss.backward()
        optimizer.step()
        total += loss.item()
    print("epoch", epoch, "loss", round(total / 20, 4))
