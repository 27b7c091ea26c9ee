import torch
from torch import nn


class Predictor(nn.Module):
    def __init__(self, size=14):
        super().__init__()
        self.cell = nn.GRUCell(1, size)
        self.out = nn.Linear(size, 1)

    def forward(self, series, h):
        outputs = []
        for value in series.unbind(1):
            h = self.cell(value, h)
            outputs.append(self.out(h))
        return torch.stack(outputs, 1), h


def series(batch=8, length=121):
    phase = torch.rand(batch, 1)
    return torch.sin(phase * 6 + torch.arange(length) * 0.2).unsqueeze(-1)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Predictor().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
data = series().to(device)
for epoch in range(2):
    h = torch.zeros(8, 14, device=device)
    for start in range(0, 120, 20):
        x, y = data[:, start : start + 20], data[:, start + 1 : start + 21]
        prediction, h = model(x, h)
        loss = (prediction - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
