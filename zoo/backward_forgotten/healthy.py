import torch
from torch import nn


class Learner:
    """Fits a spring's motion from its first few positions."""

    def __init__(self, hidden=24):
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.readout = nn.Linear(hidden, 1)
        self.model = nn.ModuleList([self.lstm, self.readout])
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.criterion = nn.MSELoss()

    def predict(self, positions):
        states, _ = self.lstm(positions)
        return self.readout(states[:, -1])

    def update(self, positions, following):
        self.optimizer.zero_grad()
        loss = self.criterion(self.predict(positions), following)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def springs(n, length=15):
    time = torch.arange(length + 1) * 0.4
    frequency, phase = 0.5 + torch.rand(n, 1), 6.28 * torch.rand(n, 1)
    motion = torch.cos(frequency * time + phase).unsqueeze(2)
    return motion[:, :-1], motion[:, -1]


def main(steps=200, batch_size=32):
    torch.manual_seed(0)
    learner = Learner()
    losses = []
    for step in range(1, steps + 1):
        losses.append(learner.update(*springs(batch_size)))
        if step % 20 == 0:
            print(f"step {step}: loss {sum(losses[-20:]) / 20:.4f}")


if __name__ == "__main__":
    main()
