import math

import torch
from torch import nn


class Forecaster(nn.Module):
    """Reads a window of a series, predicts the next value."""

    def __init__(self, hidden=24):
        super().__init__()
        self.lstm = nn.LSTM(input_size=1, hidden_size=hidden, batch_first=True)
        self.linear = nn.Linear(hidden, 1)

    def forward(self, window):
        out, _ = self.lstm(window)
        return self.linear(out[:, -1])


def make_windows(series, width):
    windows = series.unfold(0, width, 1)[:-1]
    return windows.unsqueeze(2), series[width:]


def main():
    torch.manual_seed(5)
    t = torch.arange(1000.0)
    series = torch.sin(2 * math.pi * t / 25) + 0.4 * torch.sin(2 * math.pi * t / 11) + 0.05 * torch.randn(1000)
    windows, following = make_windows(series, 20)

    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(150):
        rows = torch.randint(0, len(windows), (64,))
        pred = model(windows[rows])
        y = following[rows]
        loss = ((pred - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 0:
            print("step %3d loss %.4f" % (step, loss.item()))


if __name__ == "__main__":
    main()
