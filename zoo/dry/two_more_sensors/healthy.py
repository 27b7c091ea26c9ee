import math

import torch
import torch.nn as nn

WINDOW = 30
SENSORS = 8


class Forecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.rnn = nn.LSTM(SENSORS, hidden, num_layers=2, batch_first=True, dropout=0.1)
        self.out = nn.Linear(hidden, 1)

    def forward(self, window):
        states, _ = self.rnn(window)
        return self.out(states[:, -1]).squeeze(-1)


def signals(length=600):
    t = torch.arange(length) / 25
    base = torch.stack([torch.sin(t * (k + 1) / 3) for k in range(6)], dim=1)
    hour = torch.stack([torch.sin(2 * math.pi * t / 24), torch.cos(2 * math.pi * t / 24)], dim=1)
    return torch.cat([base, hour], dim=1)


def windows(series):
    xs = series.unfold(0, WINDOW, 5).transpose(1, 2)[:-1]
    ys = series[WINDOW::5, 0][: len(xs)]
    return xs, ys


torch.manual_seed(5)
device = "cuda" if torch.cuda.is_available() else "cpu"
inputs, targets = windows(signals())
model = Forecaster().to(device)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for epoch in range(3):
    order = torch.randperm(len(inputs))
    for chunk in order.split(32):
        x, y = inputs[chunk].to(device), targets[chunk].to(device)
        loss = ((model(x) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(epoch, loss.item())
