import torch
import torch.nn.functional as F
from torch import nn

CLASSES, DIM = 4, 6


class Projection(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, DIM)

    def forward(self, x):
        return torch.tanh(self.linear(x))


def sample(size=64):
    label = torch.arange(size) % CLASSES
    x = torch.randn(size, 20)
    x[torch.arange(size), label] += 3.0
    return x, label


def class_means(features, label):
    member = F.one_hot(label, CLASSES).float()
    return member.T @ features / member.sum(dim=0).unsqueeze(1)


def main(steps=160, keep=0.9):
    torch.manual_seed(0)
    model = Projection(20)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    prototypes = torch.zeros(CLASSES, DIM)
    for step in range(1, steps + 1):
        x, label = sample()
        features = model(x)
        prototypes = keep * prototypes.detach() + (1 - keep) * class_means(features, label)
        distance = (features.unsqueeze(1) - prototypes).pow(2).sum(dim=2)
        loss = F.cross_entropy(-distance, label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
