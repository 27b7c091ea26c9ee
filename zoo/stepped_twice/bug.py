import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.criterion = nn.HuberLoss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, nesterov=True)

    def compute_loss(self, batch):
        history, target = batch
        return self.criterion(self.model(history), target)

    def optimise(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class TemporalNet(nn.Module):
    def __init__(self, channels=16):
        super().__init__()
        self.conv1 = nn.Conv1d(2, channels, 3, padding=2, dilation=2)
        self.conv2 = nn.Conv1d(channels, channels, 3, padding=4, dilation=4)
        self.out = nn.Linear(channels * 20, 1)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = torch.relu(self.conv2(x))
        return self.out(x.flatten(1))


def series(n, length=20):
    x = torch.randn(n, 2, length)
    target = x[:, 0, -1] - x[:, 0, -5] + x[:, 1, 3:6].clamp(min=0).sum(dim=1)
    return TensorDataset(x, target.unsqueeze(1))


def main():
    torch.manual_seed(3)
    loader = DataLoader(series(960), batch_size=32, shuffle=True)
    trainer = Trainer(TemporalNet(), lr=0.06)
    for epoch in range(8):
        total = 0.0
        for batch in loader:
            loss = trainer.compute_loss(batch)
            trainer.optimise(loss)
            trainer.optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
