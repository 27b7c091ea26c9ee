"""Evaluates a trained network on a large set."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(100, 512), nn.ReLU(), nn.Dropout(0.5), nn.Linear(512, 10))
model.eval()
images = torch.randn(1000, 100)
labels = torch.randint(10, (1000,))

correct = 0
with torch.no_grad():
    for start in range(0, len(images), 100):
        batch = images[start : start + 100]
        correct += (model(batch).argmax(dim=1) == labels[start : start + 100]).sum().item()
print(correct / len(labels))
