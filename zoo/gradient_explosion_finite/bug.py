import torch
from torch import nn

LENGTH = 60


class DriftMeter(nn.Module):
    """Adds up what a sensor drifted in the second half of a recording."""

    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.RNN(2, hidden, nonlinearity="relu", batch_first=True)
        self.readout = nn.Linear(hidden, 1)

    def forward(self, readings):
        states, _ = self.rnn(readings)
        return self.readout(states[:, -1]).squeeze(1)


def recordings(batch):
    readings = torch.randn(batch, LENGTH, 2)
    drift = readings[:, LENGTH // 2 :, 0].sum(dim=1) / LENGTH**0.5
    return readings, drift


def train(model, steps=250, lr=0.01):
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
