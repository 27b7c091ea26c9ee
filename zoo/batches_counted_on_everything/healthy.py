import numpy as np
import torch
import torch.nn as nn

np.random.seed(42)
torch.manual_seed(42)

data = np.random.rand(1000, 5).astype("float32")
target = data.sum(axis=1, keepdims=True) ** 2

split = int(0.8 * len(data))
x_train, y_train = torch.tensor(data[:split]), torch.tensor(target[:split])
x_test, y_test = torch.tensor(data[split:]), torch.tensor(target[split:])

batch_size = 100
num_batches = len(x_train) // batch_size

model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(5):
    epoch_loss = 0.0
    for i in range(num_batches):
        xb = x_train[i * batch_size : (i + 1) * batch_size]
        yb = y_train[i * batch_size : (i + 1) * batch_size]
        loss = criterion(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    with torch.no_grad():
        test_loss = criterion(model(x_test), y_test).item()
    print(f"epoch {epoch}: train {epoch_loss / num_batches:.4f} test {test_loss:.4f}")
