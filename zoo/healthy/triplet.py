"""Metric learning: triplets mined inside the batch, a margin, embeddings on the unit sphere; many triplets give no loss."""

import torch
import torch.nn.functional as F
from torch import nn


class Embedder(nn.Module):
    def __init__(self, n_in=24, n_out=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, 64), nn.PReLU(), nn.Linear(64, 64), nn.PReLU(), nn.Linear(64, n_out))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


class People:
    """Each person has a face; a picture of it comes with light, a tilt and noise."""

    def __init__(self, count, generator):
        self.generator = generator
        self.faces = torch.randn(count, 24, generator=generator)
        self.light = torch.randn(3, 24, generator=generator)

    def pictures(self, who):
        light = torch.randn(len(who), 3, generator=self.generator) @ self.light
        return self.faces[who] + 0.7 * light + 0.2 * torch.randn(len(who), 24, generator=self.generator)

    def batch(self, persons=12, each=4):
        who = torch.randperm(len(self.faces), generator=self.generator)[:persons].repeat_interleave(each)
        return self.pictures(who), who


def batch_hard(z, who, margin=0.3):
    squared = 2 - 2 * z @ z.T
    distance = torch.sqrt(squared.clamp(min=1e-6))
    same = who[:, None] == who[None, :]
    furthest = torch.where(same, distance, 0.0).max(dim=1).values
    nearest = torch.where(same, 9.0, distance).min(dim=1).values
    loss = F.relu(furthest - nearest + margin)
    return loss.mean(), (loss > 0).float().mean().item()


@torch.no_grad()
def recognise(model, people):
    """Compare each new picture with one known picture of everybody."""
    everyone = torch.arange(len(people.faces))
    known, new = model(people.pictures(everyone)), model(people.pictures(everyone))
    return ((new @ known.T).argmax(1) == everyone).float().mean().item()


def main():
    torch.manual_seed(2)
    people = People(60, torch.Generator().manual_seed(2))
    model = Embedder()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    print(f"untrained: recognised {recognise(model, people):.3f}")
    for it in range(1, 401):
        x, who = people.batch()
        loss, active = batch_hard(model(x), who)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 50 == 0:
            print(f"it {it}: loss {loss.item():.4f} active {active:.2f} recognised {recognise(model, people):.3f}")


if __name__ == "__main__":
    main()
