import torch
from torch import nn


def area(box):
    return (box[:, 2] - box[:, 0]).clamp(min=0) * (box[:, 3] - box[:, 1]).clamp(min=0)


def iou(a, b):
    corner = torch.cat([torch.maximum(a[:, :2], b[:, :2]), torch.minimum(a[:, 2:], b[:, 2:])], dim=1)
    inter = area(corner)
    union = area(a) + area(b) - inter
    return inter / union.clamp(min=1e-6)


def to_box(raw):
    centre, size = raw[:, :2], raw[:, 2:]
    return torch.cat([centre - torch.relu(size), centre + torch.relu(size)], dim=1)


def scene(n):
    low = torch.rand(n, 2)
    high = low + 0.2 + torch.rand(n, 2)
    return torch.cat([low, high], dim=1)


if __name__ == "__main__":
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 4))
    nn.init.constant_(net[2].bias, 0.5)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    accumulation_steps = 4
    for i in range(40):
        target = scene(16)
        valid = torch.ones(16)
        if i >= 18:
            valid[12:] = 0  # smaller scenes are padded to sixteen boxes
        target = target * valid[:, None]
        predicted = to_box(net(target)) * valid[:, None]
        loss = ((1 - iou(predicted, target)) * valid).sum() / valid.sum() / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
        if i % 4 == 0:
            print(f"batch {i}: {loss.item() * accumulation_steps:.4f}")
