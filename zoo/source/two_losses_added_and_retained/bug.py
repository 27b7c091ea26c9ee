import torch
import torch.nn.functional as F
from torch import nn


class Recommender(nn.Module):
    def __init__(self, users, items, width=32):
        super().__init__()
        self.user = nn.Embedding(users, width)
        self.item = nn.Embedding(items, width)
        self.score = nn.Sequential(nn.Linear(2 * width, 64), nn.ReLU(), nn.Linear(64, 1), nn.Flatten(0))

    def forward(self, user, item):
        return self.score(torch.cat([self.user(user), self.item(item)], dim=1))


def train(model, batches, weight=1e-4, epochs=5):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        for user, item, clicked in batches:
            data_loss = F.binary_cross_entropy_with_logits(model(user, item), clicked)
            size = model.user.weight.square().mean() + model.item.weight.square().mean()
            loss = data_loss + weight * size
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()
    return model
