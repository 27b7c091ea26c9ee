"""Float16 autocast whose GradScaler starts far too high and skips its first steps, as it is meant to."""

import torch
from torch import nn
from torch.amp import GradScaler, autocast

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = GradScaler("cpu", init_scale=2.0**22, growth_interval=10)
x = torch.randn(128, 10)
y = (x[:, 0] > 0).long()
skipped = 0

for step in range(40):
    with autocast("cpu", dtype=torch.float16):
        logits = model(x)
        loss = nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    skipped += scaler.get_scale() < before
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f} norm {norm.item():.3f} scale {scaler.get_scale():.0f}")
print("skipped", skipped, "of 40")
