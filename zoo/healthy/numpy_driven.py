"""Batches drawn with numpy and random, plain-tensor SGD with momentum by hand, Inf as a sentinel in the bookkeeping."""

import random

import numpy as np
import torch

np.random.seed(3)
random.seed(3)
torch.manual_seed(3)

X = np.random.randn(200, 4)
t = np.sin(X[:, 0]) + 0.1 * np.random.randn(200)

params = [torch.randn(4, 16) * 0.4, torch.zeros(16), torch.randn(16) * 0.2]
for p in params:
    p.requires_grad_()
speed = [torch.zeros_like(p) for p in params]
seen = np.full(200, np.inf)  # how long ago each row was drawn

for it in range(150):
    rows = np.random.choice(200, size=random.choice([8, 16, 24]), replace=False)
    seen += 1
    seen[rows] = 0
    xb = torch.as_tensor(X[rows], dtype=torch.float32)
    tb = torch.as_tensor(t[rows], dtype=torch.float32)
    out = torch.tanh(xb @ params[0] + params[1]) @ params[2]
    loss = (out - tb).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for p, v in zip(params, speed):
            v.mul_(0.9).add_(p.grad)
            p.sub_(0.03 * v)
            p.grad = None
    if it % 30 == 0:
        print(f"it {it:3d} loss {loss.item():.4f} never drawn {int(np.isinf(seen).sum())}")
