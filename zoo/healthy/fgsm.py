"""Adversarial training: a first backward for the gradient of the input alone, zero_grad, then a second one that is used."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def fgsm(model, x, y, epsilon):
    x = x.clone().detach().requires_grad_(True)
    loss = F.cross_entropy(model(x), y)
    model.zero_grad()
    loss.backward()
    return (x + epsilon * x.grad.sign()).detach()


def shapes(count):
    """Crosses, frames and diagonals on 10 x 10 pixels."""
    yy, xx = torch.meshgrid(torch.arange(10), torch.arange(10), indexing="ij")
    cross = ((yy // 2 == 2) | (xx // 2 == 2)).float()
    frame = ((yy % 9 < 2) | (xx % 9 < 2)).float()
    diagonal = ((yy - xx).abs() < 2).float()
    y = torch.randint(0, 3, (count,))
    x = torch.stack([cross, frame, diagonal])[y] - 0.4
    x = torch.stack([image.roll(tuple(s), (0, 1)) for image, s in zip(x, torch.randint(-1, 2, (count, 2)).tolist())])
    return TensorDataset((x + 0.4 * torch.randn(count, 10, 10)).unsqueeze(1), y)


def report(model, data, epsilon):
    model.eval()
    x, y = data.tensors
    clean = (model(x).argmax(1) == y).float().mean().item()
    attacked = (model(fgsm(model, x, y, epsilon)).argmax(1) == y).float().mean().item()
    model.train()
    return clean, attacked


def fit(loader, held, epsilon, adversarial, epochs=5):
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(200, 32),
        nn.ReLU(),
        nn.Linear(32, 3),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        total = 0.0
        for x, y in loader:
            if adversarial:
                half = len(x) // 2
                x = torch.cat([fgsm(model, x[:half], y[:half], epsilon), x[half:]])
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        clean, attacked = report(model, held, epsilon)
        print(f"  epoch {epoch}: loss {total / len(loader):.4f} clean {clean:.3f} attacked {attacked:.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(shapes(960), batch_size=32, shuffle=True)
    held = shapes(400)
    for adversarial in (False, True):
        print("with adversarial samples" if adversarial else "plain")
        fit(loader, held, 0.3, adversarial)
