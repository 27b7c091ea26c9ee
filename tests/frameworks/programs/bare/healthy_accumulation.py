import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATE, EPOCHS, WARMUP = 4, 8, 10

torch.manual_seed(0)
x = torch.randn(960, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(8, 64), nn.LayerNorm(64), nn.GELU(), nn.Dropout(0.1), nn.Linear(64, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
steps = EPOCHS * len(loader) // ACCUMULATE
scheduler = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda s: s / WARMUP if s < WARMUP else 0.5 * (1 + math.cos(math.pi * (s - WARMUP) / (steps - WARMUP)))
)

for epoch in range(EPOCHS):
    for i, (inputs, labels) in enumerate(loader):
        loss = F.cross_entropy(model(inputs), labels) / ACCUMULATE
        loss.backward()
        if (i + 1) % ACCUMULATE == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad(set_to_none=True)
    print(epoch, ACCUMULATE * loss.item())
