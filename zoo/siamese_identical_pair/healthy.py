import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, n=300, seed=0):
        rng = random.Random(seed)
        g = torch.Generator().manual_seed(seed)
        self.items = torch.randn(80, 12, generator=g)
        self.groups = torch.arange(80) % 4
        self.items += self.groups[:, None] * 1.5
        self.pairs = [(rng.randrange(80), rng.randrange(80)) for _ in range(n)]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, k):
        i, j = self.pairs[k]
        return self.items[i], self.items[j], float(self.groups[i] == self.groups[j])


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, a, b):
        return self.embed(a), self.embed(b)


def contrastive(a, b, same, margin=2.0):
    distance = torch.sqrt(((a - b) ** 2).sum(dim=1) + 1e-9)
    return (same * distance**2 + (1 - same) * torch.relu(margin - distance) ** 2).mean()


def main():
    torch.manual_seed(0)
    loader = DataLoader(Pairs(), batch_size=20)
    model = Siamese()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    for epoch in range(4):
        for a, b, same in loader:
            loss = contrastive(*model(a, b), same.float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss %.4f" % loss.item())


if __name__ == "__main__":
    main()
