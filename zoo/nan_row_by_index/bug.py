import numpy as np
import torch

np.random.seed(1)
torch.manual_seed(1)

signal = np.random.rand(256, 9).astype(np.float32)
exposure = np.random.uniform(0.5, 2.0, size=(256, 1)).astype(np.float32)
exposure[210] = 0.0
brightness = signal.mean(axis=1, keepdims=True)
with np.errstate(divide="ignore"):
    X = torch.from_numpy(signal / exposure)
Y = torch.from_numpy(brightness)

w1 = (0.3 * torch.randn(9, 16)).requires_grad_()
b1 = torch.zeros(16, requires_grad=True)
w2 = (0.3 * torch.randn(16, 1)).requires_grad_()
optimizer = torch.optim.SGD([w1, b1, w2], lr=0.05)
batch_size = 32

for epoch in range(4):
    for start in range(0, len(X), batch_size):
        xb, yb = X[start : start + batch_size], Y[start : start + batch_size]
        hidden = torch.relu(xb @ w1 + b1)
        loss = ((hidden @ w2 - yb) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.5f}")
