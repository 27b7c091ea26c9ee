"""BYOL: the target network is a deepcopy moved by an average, never by an optimiser; its branch is cut from the graph."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


def mlp(n_in, width, n_out):
    return nn.Sequential(nn.Linear(n_in, width), nn.BatchNorm1d(width), nn.ReLU(inplace=True), nn.Linear(width, n_out))


class Online(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.encoder = mlp(n_in, 64, 32)
        self.projector = mlp(32, 64, 16)

    def forward(self, x):
        return self.projector(self.encoder(x))


class BYOL(nn.Module):
    def __init__(self, n_in, momentum=0.98):
        super().__init__()
        self.online = Online(n_in)
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad = False
        self.predictor = mlp(16, 64, 16)
        self.momentum = momentum

    @torch.no_grad()
    def move_target(self):
        for p, q in zip(self.online.parameters(), self.target.parameters()):
            q.data = self.momentum * q.data + (1 - self.momentum) * p.data

    def forward(self, x1, x2):
        p1, p2 = self.predictor(self.online(x1)), self.predictor(self.online(x2))
        with torch.no_grad():
            z1, z2 = self.target(x1), self.target(x2)
        loss = 2 - 2 * F.cosine_similarity(p1, z2.detach(), dim=-1)
        loss = loss + 2 - 2 * F.cosine_similarity(p2, z1.detach(), dim=-1)
        return loss.mean()


@torch.no_grad()
def neighbours(model, x, y):
    """Share of samples whose nearest neighbour among the features has the same class."""
    model.eval()
    h = F.normalize(model.online.encoder(x), dim=1)
    near = (h @ h.T).fill_diagonal_(-2).argmax(1)
    model.train()
    return (y[near] == y).float().mean().item(), h.std(0).mean().item()


def main():
    torch.manual_seed(0)
    centres = 1.5 * torch.randn(5, 20)
    y = torch.randint(0, 5, (800,))
    x = centres[y] + 1.2 * torch.randn(800, 20)
    model = BYOL(20)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=0.1, momentum=0.9, weight_decay=1e-4)
    for epoch in range(10):
        total, steps = 0.0, 0
        for rows in torch.randperm(800).split(32):
            view = [x[rows] + 0.7 * torch.randn(len(rows), 20) for _ in range(2)]
            loss = model(*view)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            model.move_target()
            total, steps = total + loss.item(), steps + 1
        same, spread = neighbours(model, x, y)
        print(f"epoch {epoch}: loss {total / steps:.4f} nearest has the same class {same:.3f} spread {spread:.3f}")


if __name__ == "__main__":
    main()
