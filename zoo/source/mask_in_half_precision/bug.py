import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)

    def forward(self, x, padding):
        scores = torch.matmul(self.query(x), self.key(x).transpose(1, 2)) / x.shape[-1] ** 0.5
        scores = scores.masked_fill(padding[:, None, :], -1e9)
        return torch.matmul(scores.softmax(dim=-1), self.value(x))


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Attention(32).to(device)
optimizer = torch.optim.Adam(model.parameters())
scaler = torch.amp.GradScaler(device.type)
for _ in range(10):
    x = torch.randn(4, 12, 32, device=device)
    padding = torch.zeros(4, 12, dtype=torch.bool, device=device)
    optimizer.zero_grad()
    with torch.autocast(device.type, dtype=torch.float16):
        loss = model(x, padding).square().mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
