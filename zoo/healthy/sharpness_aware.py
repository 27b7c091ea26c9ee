"""Sharpness-aware minimisation: climb to a nearby worse point, take the gradient there, come back, then step with it."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base = base(self.param_groups, **kwargs)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def climb(self):
        norms = [p.grad.norm() for group in self.param_groups for p in group["params"] if p.grad is not None]
        scale = torch.stack(norms).norm() + 1e-12
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self.state[p]["here"] = p.clone()
                    p.add_(p.grad, alpha=(group["rho"] / scale).item())

    @torch.no_grad()
    def descend(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.copy_(self.state[p]["here"])
        self.base.step()

    def step(self, closure=None):
        raise RuntimeError("call climb, then descend")


def two_spirals(count):
    y = torch.randint(0, 2, (count,))
    t = 0.5 + 2.5 * torch.rand(count)
    angle = 2 * t + 3.1416 * y
    x = torch.stack([t * angle.cos(), t * angle.sin()], dim=1) / 1.7
    return TensorDataset(x + 0.05 * torch.randn(count, 2), y)


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(two_spirals(1600), batch_size=40, shuffle=True)
    held_x, held_y = two_spirals(500).tensors
    model = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    optimizer = SAM(model.parameters(), torch.optim.SGD, rho=0.05, lr=0.1, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(10):
        total = 0.0
        for x, y in loader:
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.climb()
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.descend()
            optimizer.zero_grad()
            total += loss.item()
        with torch.no_grad():
            right = (model(held_x).argmax(1) == held_y).float().mean().item()
        print(f"epoch {epoch}: loss {total / len(loader):.4f} held {right:.3f}")
