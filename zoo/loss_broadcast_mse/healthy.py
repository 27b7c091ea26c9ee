import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(0)
torch.manual_seed(0)

# Fuel use from engine data, both standardised.
X = np.random.randn(1200, 7).astype(np.float32)
y = 1.2 * X[:, 0] - 0.8 * X[:, 1] + 0.6 * X[:, 2] * X[:, 3] + 0.1 * np.random.randn(1200)
y = ((y - y.mean()) / y.std()).astype(np.float32)

train_set = TensorDataset(torch.from_numpy(X[:1000]), torch.from_numpy(y[:1000]))
test_set = TensorDataset(torch.from_numpy(X[1000:]), torch.from_numpy(y[1000:]))
train_loader = DataLoader(train_set, batch_size=50, shuffle=True)
test_loader = DataLoader(test_set, batch_size=50)

model = nn.Sequential(nn.Linear(7, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(15):
    model.train()
    train_loss = 0.0
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        outputs = model(inputs).squeeze(1)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        train_loss += loss.item()
    model.eval()
    errors = []
    with torch.no_grad():
        for inputs, targets in test_loader:
            errors.append((model(inputs).squeeze(1) - targets).abs().mean().item())
    print(f"epoch {epoch:2d} train loss {train_loss / len(train_loader):.4f} test error {np.mean(errors):.4f}")
