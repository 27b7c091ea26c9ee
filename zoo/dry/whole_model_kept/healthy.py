import tempfile

import torch
from torch import nn


class Spiral(nn.Module):
    def __init__(self, hidden=20):
        super().__init__()
        self.a = nn.Linear(2, hidden)
        self.b = nn.Linear(hidden, 2)

    def forward(self, x):
        return self.b(torch.sin(self.a(x)))


def data(n, device):
    t = torch.rand(n, device=device) * 6
    label = torch.randint(2, (n,), device=device)
    angle = t + 3.14159 * label
    return torch.stack([t * angle.cos(), t * angle.sin()], 1) / 6, label


def main():
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Spiral().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(20):
        points, label = data(40, device)
        loss = nn.functional.cross_entropy(model(points), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with tempfile.NamedTemporaryFile(suffix=".pth") as file:
        torch.save(model, file.name)
        best = torch.load(file.name, weights_only=False)
    points, label = data(100, device)
    print("accuracy", (best(points).argmax(1) == label).float().mean().item())


if __name__ == "__main__":
    main()
