import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

LEARNING_RATE = 1.0
BATCH = 40


def load(seed=2):
    """Concrete strength from its mixture (standardised)."""
    rng = np.random.default_rng(seed)
    mixture = rng.normal(size=(1200, 8))
    strength = 2.0 + np.tanh(mixture @ rng.normal(size=8)) + 0.5 * mixture[:, 0] * mixture[:, 1]
    return torch.tensor(mixture, dtype=torch.float32), torch.tensor(strength, dtype=torch.float32)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 64)
        self.fc2 = nn.Linear(64, 32)
        self.fc3 = nn.Linear(32, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x).squeeze(1)


def fit(model, loader, epochs=10):
    optimizer = optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=0.9)
    criterion = nn.SmoothL1Loss()
    for epoch in range(epochs):
        total = 0.0
        for mixture, strength in loader:
            optimizer.zero_grad()
            loss = criterion(model(mixture), strength)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / len(loader):.4f}")


torch.manual_seed(1)
fit(Regressor(), DataLoader(TensorDataset(*load()), batch_size=BATCH, shuffle=True))
