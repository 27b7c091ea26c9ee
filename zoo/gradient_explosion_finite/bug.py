import torch
from torch import nn

MINUTE, NIGHT = 20, 300


class DriftMeter(nn.Module):
    """Adds up what a sensor drifted in the second half of a recording."""

    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.RNN(2, hidden, nonlinearity="relu", batch_first=True)
        self.rnn.weight_hh_l0.data = torch.eye(hidden) + 0.01 * torch.randn(hidden, hidden)
        self.readout = nn.Linear(hidden, 1)

    def forward(self, readings):
        states, _ = self.rnn(readings)
        return self.readout(states[:, -1]).squeeze(1)


def recordings(batch):
    length = NIGHT if torch.rand(()) < 0.1 else MINUTE
    readings = torch.randn(batch, length, 2)
    drift = readings[:, length // 2 :, 0].sum(dim=1) / length**0.5
    return readings, drift


def train(model, steps=250, lr=0.001):
    criterion = nn.MSELoss()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=lr, alpha=0.9)
    for step in range(steps):
        readings, drift = recordings(32)
        loss = criterion(model(readings), drift)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:3d} loss {loss.item():.4f}")


torch.manual_seed(4)
train(DriftMeter())
