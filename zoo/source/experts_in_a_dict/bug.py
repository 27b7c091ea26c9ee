import torch
import torch.nn.functional as F
from torch import nn

TASKS = {"colour": 8, "shape": 5, "size": 3}


class MultiTask(nn.Module):
    def __init__(self, features, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.experts = {task: nn.Linear(width, classes) for task, classes in TASKS.items()}

    def forward(self, x):
        shared = self.body(x)
        return {task: self.experts[task](shared) for task in TASKS}


def train(loader, epochs=10):
    model = MultiTask(32)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        for x, labels in loader:
            scores = model(x)
            loss = sum(F.cross_entropy(scores[task], labels[task]) for task in TASKS)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {loss.item():.4f}")
    return model
