import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
EPOCHS = 12
BATCH_SIZE = 64
LEARNING_RATE = 0.005

inputs = torch.randn(1024, 5)
targets = torch.sin(2 * inputs[:, 0]) + inputs[:, 1] * inputs[:, 2] + 0.5 * inputs[:, 3]
loader = DataLoader(TensorDataset(inputs, targets), batch_size=BATCH_SIZE, shuffle=True)

model = nn.Sequential(
    nn.Linear(5, 64),
    nn.ReLU(),
    nn.Linear(64, 64),
    nn.ReLU(),
    nn.Linear(64, 1),
)
optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)

for epoch in range(EPOCHS):
    running_loss = 0.0
    for xb, yb in loader:
        prediction = model(xb).squeeze(1)
        loss = F.mse_loss(prediction, yb)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    print(f"Epoch {epoch + 1}/{EPOCHS} loss: {running_loss / len(loader):.4f}")
