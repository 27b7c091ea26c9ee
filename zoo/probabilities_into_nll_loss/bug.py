import numpy as np
import torch
from torch import nn


class Gestures(nn.Module):
    """1-D convolutions over accelerometer traces of three channels."""

    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv1d(3, 12, 5)
        self.conv2 = nn.Conv1d(12, 16, 5)
        self.fc = nn.Linear(16, classes)

    def forward(self, trace):
        x = torch.relu(self.conv1(trace))
        x = torch.relu(self.conv2(x)).amax(dim=2)
        return torch.softmax(self.fc(x), dim=1)


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.criterion = nn.NLLLoss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

    def fit(self, traces, labels, epochs, batch_size=40):
        for epoch in range(epochs):
            order = torch.randperm(len(traces))
            losses = []
            for rows in order.split(batch_size):
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(traces[rows]), labels[rows])
                loss.backward()
                self.optimizer.step()
                losses.append(loss.item())
            print(f"epoch {epoch:2d}: loss {np.mean(losses):.4f}")


def record(count, classes, rng):
    t = np.linspace(0, 4 * np.pi, 40)
    labels = rng.integers(0, classes, count)
    phase = rng.uniform(0, 0.6, (count, 1))
    speed = 0.5 + 0.35 * labels[:, None]
    axes = [np.sin(speed * t + phase), np.cos(speed * t + phase), np.sin(2 * speed * t)]
    traces = np.stack(axes, axis=1) + rng.normal(0, 0.3, (count, 3, 40))
    return torch.tensor(traces, dtype=torch.float32), torch.tensor(labels)


torch.manual_seed(3)
traces, labels = record(800, 6, np.random.default_rng(5))
Trainer(Gestures(6), lr=0.02).fit(traces, labels, epochs=10)
