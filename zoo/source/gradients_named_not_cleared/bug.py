import torch
import torch.nn.functional as F
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, features=8, hidden=64):
        super().__init__()
        self.rnn = nn.GRU(features, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, history):
        states, _ = self.rnn(history)
        return self.head(states[:, -1]).squeeze(1)


def train(model, loader, device, epochs=10):
    model.to(device).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        total = 0.0
        for history, target in loader:
            history, target = history.to(device), target.to(device)
            optimizer.zero_grad
            loss = F.smooth_l1_loss(model(history), target)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / len(loader):.4f}")
