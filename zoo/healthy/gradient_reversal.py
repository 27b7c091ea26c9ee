"""Domain adaptation: the gradient of the domain loss is turned round on its way into the features, which is the point."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, slope):
        return -ctx.strength * slope, None


class DANN(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 16), nn.ReLU())
        self.label = nn.Linear(16, 3)
        self.domain = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x, strength=0.0):
        h = self.features(x)
        return self.label(h), self.domain(Reverse.apply(h, strength)).squeeze(1)


def draw(count, target, g):
    """Three classes; in the target domain the columns that do not matter are shifted."""
    y = torch.randint(0, 3, (count,), generator=g)
    x = torch.randn(count, 10, generator=g)
    x[:, :3] += 2.5 * F.one_hot(y, 3)
    if target:
        x[:, 5:] += 2.0
    return x, y


def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(0)
    model = DANN()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.5)
    test_x, test_y = draw(800, True, g)
    steps = 400
    for step in range(1, steps + 1):
        strength = 0.5 * (2 / (1 + math.exp(-10 * step / steps)) - 1)
        (source, y), (target, _) = draw(32, False, g), draw(32, True, g)
        labels, from_source = model(source, strength)
        _, from_target = model(target, strength)
        label_loss = F.cross_entropy(labels, y)
        domain = torch.cat([from_source, from_target])
        domain_loss = F.binary_cross_entropy_with_logits(domain, torch.cat([torch.zeros(32), torch.ones(32)]))
        optimizer.zero_grad()
        (label_loss + domain_loss).backward()
        optimizer.step()
        if step % 50 == 0:
            with torch.no_grad():
                right = (model(test_x)[0].argmax(1) == test_y).float().mean().item()
            print(
                f"step {step}: label {label_loss.item():.4f} domain {domain_loss.item():.4f} target accuracy {right:.3f}"
            )


if __name__ == "__main__":
    main()
