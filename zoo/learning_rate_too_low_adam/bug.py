import torch
from torch import nn


class ActivityLSTM(nn.Module):
    """Tells walking, running, sitting from a wrist sensor."""

    def __init__(self, channels=6, hidden=32, activities=3):
        super().__init__()
        self.lstm = nn.LSTM(channels, hidden, batch_first=True)
        self.head = nn.Linear(hidden, activities)

    def forward(self, signal):
        output, _ = self.lstm(signal)
        return self.head(output[:, -1])


def record(batch, base):
    activity = torch.randint(0, 3, (batch,))
    t = torch.arange(15.0)
    speed = torch.tensor([0.4, 1.2, 0.0])[activity]
    wave = torch.sin(speed[:, None] * t + 6.28 * torch.rand(batch, 1))
    signal = wave[:, :, None] * base + 0.3 * torch.randn(batch, 15, 6)
    return signal, activity


class Training:
    learning_rate = 1e-6
    steps = 240
    batch = 48

    def __init__(self):
        torch.manual_seed(5)
        self.base = 1 + torch.rand(6)
        self.model = ActivityLSTM()
        self.criterion = nn.CrossEntropyLoss()

    def run(self):
        optimizer = torch.optim.Adam(self.model.parameters(), lr=self.learning_rate)
        for step in range(self.steps):
            signal, activity = record(self.batch, self.base)
            loss = self.criterion(self.model(signal), activity)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 20 == 0:
                print("step", step, "loss", f"{loss.item():.4f}")


Training().run()
