import torch
from torch import nn

torch.manual_seed(0)
device_type = "cpu"


class Halting(nn.Module):
    """Says after how many tokens one may stop reading."""

    def __init__(self):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(6, 32), nn.SiLU(), nn.Linear(32, 1))

    def forward(self, x):
        return torch.sigmoid(self.score(x)).squeeze(-1)


model = Halting()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.03, weight_decay=0.0)
accumulate = 2

for step in range(120):
    x = torch.randn(48, 6)
    stop = (x[:, 0] < -1.2).float()
    with torch.autocast(device_type, dtype=torch.bfloat16):
        keep = model(x)
        penalty = -torch.log(1.0 + 1e-3 - keep) * stop
        reward = -torch.log(keep.float() + 1e-3) * (1 - stop)
        loss = (penalty + reward).float().mean() / accumulate
    loss.backward()
    if (step + 1) % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
    if step % 20 == 0:
        print(f"step {step}: loss {loss.item() * accumulate:.4f}")
