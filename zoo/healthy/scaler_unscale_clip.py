"""Mixed precision on the CPU: scale, backward, unscale, clip, step, update, and accumulation of two micro-batches."""

import torch
from torch import nn
from torch.amp import GradScaler, autocast
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(2400, 20)
rule = torch.randn(20, 3)
y = (x @ rule + 0.5 * torch.randn(2400, 3)).argmax(dim=1)
train = DataLoader(TensorDataset(x[:2000], y[:2000]), batch_size=20, shuffle=True)

model = nn.Sequential(nn.Linear(20, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
scaler = GradScaler("cpu", init_scale=2.0**12, growth_interval=100)

for epoch in range(6):
    total, norms = 0.0, []
    for i, (inputs, labels) in enumerate(train):
        with autocast(device_type="cpu", dtype=torch.float16):
            output = model(inputs)
            loss = nn.functional.cross_entropy(output, labels) / 2
        scaler.scale(loss).backward()
        total += 2 * loss.item()
        if i % 2 == 1:
            scaler.unscale_(optimizer)
            norms.append(nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0).item())
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
    with torch.no_grad(), autocast(device_type="cpu", dtype=torch.float16):
        right = (model(x[2000:]).argmax(dim=1) == y[2000:]).float().mean().item()
    mean = sum(norms) / len(norms)
    print(
        f"epoch {epoch}: loss {total / len(train):.4f} norm {mean:.2f} scale {scaler.get_scale():.0f} held {right:.3f}"
    )
