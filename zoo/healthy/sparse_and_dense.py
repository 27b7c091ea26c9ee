"""Two optimisers, one loss: SparseAdam moves the embedding table, Adam the rest, and one backward serves both."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Clicks(nn.Module):
    def __init__(self, items=500, width=8):
        super().__init__()
        self.item = nn.Embedding(items, width, sparse=True)
        nn.init.normal_(self.item.weight, std=0.3)
        self.tower = nn.Sequential(nn.Linear(width + 4, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, item, user):
        return self.tower(torch.cat([self.item(item), user], dim=1)).squeeze(1)


def auc(score, label):
    order = score.argsort()
    rank = torch.empty_like(order)
    rank[order] = torch.arange(1, len(order) + 1)
    positive = label.sum()
    below = rank[label > 0].sum() - positive * (positive + 1) / 2
    return (below / (positive * (len(label) - positive))).item()


def main():
    torch.manual_seed(0)
    taste = torch.randn(500, 4)
    item, user = torch.randint(0, 500, (8000,)), torch.randn(8000, 4)
    clicked = (torch.rand(8000) < torch.sigmoid(2 * (taste[item] * user).sum(1) - 0.5)).float()
    held = slice(7000, 8000)
    loader = DataLoader(TensorDataset(item[:7000], user[:7000], clicked[:7000]), batch_size=100, shuffle=True)
    model = Clicks()
    sparse = torch.optim.SparseAdam(list(model.item.parameters()), lr=2e-2)
    dense = torch.optim.Adam(model.tower.parameters(), lr=3e-3)
    for epoch in range(7):
        total = 0.0
        for i, u, c in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(model(i, u), c)
            sparse.zero_grad()
            dense.zero_grad()
            loss.backward()
            sparse.step()
            dense.step()
            total += loss.item()
        with torch.no_grad():
            area = auc(model(item[held], user[held]), clicked[held])
        print(f"epoch {epoch}: loss {total / len(loader):.4f} held-out AUC {area:.4f}")


if __name__ == "__main__":
    main()
