"""A teacher is trained, then left in eval() for good; a small student learns from its softened outputs and the labels."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_data(count, classes=5):
    labels = torch.randint(0, classes, (count,))
    angle = labels * 1.2566 + 0.25 * torch.randn(count)
    radius = 1 + 0.8 * torch.rand(count)
    spiral = angle + 1.5 * radius
    x = torch.stack([radius * spiral.cos(), radius * spiral.sin()], dim=1)
    return TensorDataset(torch.cat([x, 0.5 * torch.randn(count, 6)], dim=1), labels)


def accuracy(net, data):
    mode = net.training
    net.eval()
    with torch.no_grad():
        x, y = data.tensors
        share = (net(x).argmax(1) == y).float().mean().item()
    net.train(mode)
    return share


def train_teacher(loader, held):
    teacher = nn.Sequential(
        nn.Linear(8, 128),
        nn.BatchNorm1d(128),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(128, 128),
        nn.BatchNorm1d(128),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(128, 5),
    )
    optimizer = torch.optim.Adam(teacher.parameters(), lr=3e-3)
    for epoch in range(6):
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(teacher(x), y)
            loss.backward()
            optimizer.step()
        print(f"teacher epoch {epoch}: loss {loss.item():.4f} accuracy {accuracy(teacher, held):.3f}")
    return teacher


def distil(teacher, loader, held, temperature=3.0, alpha=0.7):
    teacher.eval()
    student = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 5))
    optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)
    for epoch in range(6):
        student.train()
        total = 0.0
        for x, y in loader:
            with torch.no_grad():
                soft = F.softmax(teacher(x) / temperature, dim=1)
            logits = student(x)
            kd = F.kl_div(F.log_softmax(logits / temperature, dim=1), soft, reduction="batchmean") * temperature**2
            loss = alpha * kd + (1 - alpha) * F.cross_entropy(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"student epoch {epoch}: loss {total / len(loader):.4f} accuracy {accuracy(student, held):.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(make_data(1600), batch_size=32, shuffle=True)
    held = make_data(500)
    distil(train_teacher(loader, held), loader, held)
