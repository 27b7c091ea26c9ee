"""An LSTM follows a long series in windows: the hidden state is carried over and detached, the data are never shuffled."""

import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        out, state = self.lstm(x, state)
        return self.head(out), state


def repackage(state):
    """Keep the values, forget where they came from."""
    return tuple(s.detach() for s in state)


def make_series(count=8, length=1201):
    t = torch.arange(length).float()
    phase = 6.28 * torch.rand(count, 1)
    slow = torch.sin(2 * torch.pi * t / 90 + phase)
    fast = torch.sin(2 * torch.pi * t / 17 + 2 * phase)
    return (0.7 * slow * (1 + 0.5 * fast) + 0.05 * torch.randn(count, length)).unsqueeze(-1)


torch.manual_seed(11)
series = make_series()
window = 40
model = Forecaster()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(8):
    state, total, count = None, 0.0, 0
    for start in range(0, 1000, window):
        x = series[:, start : start + window]
        y = series[:, start + 1 : start + window + 1]
        if state is not None:
            state = repackage(state)
        prediction, state = model(x, state)
        loss = criterion(prediction, y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        total, count = total + loss.item(), count + 1
    with torch.no_grad():
        prediction, _ = model(series[:, 1000:1200], state)
        held = criterion(prediction, series[:, 1001:1201]).item()
    print(f"epoch {epoch}: train {total / count:.5f} the stretch after it {held:.5f}")
print(f"variance of the series {series.var().item():.4f}")
