"""Trains in mixed precision."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.amp import GradScaler, autocast

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = GradScaler("cuda", enabled=device == "cuda")
x, y = torch.randn(512, 32, device=device), torch.randint(4, (512,), device=device)

for step in range(20):
    optimizer.zero_grad()
    with autocast("cuda", enabled=device == "cuda"):
        loss = F.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print(loss.item())
