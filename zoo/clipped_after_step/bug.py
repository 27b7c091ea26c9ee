import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class CountModel(nn.Module):
    """Log rate of bicycle hires from weather and calendar."""

    def __init__(self, features=6, hidden=32):
        super().__init__()
        self.hidden1 = nn.Linear(features, hidden)
        self.hidden2 = nn.Linear(hidden, hidden)
        self.log_rate = nn.Linear(hidden, 1)

    def forward(self, x):
        x = torch.relu(self.hidden1(x))
        x = torch.relu(self.hidden2(x))
        return self.log_rate(x).squeeze(1)


def hires(n):
    x = torch.randn(n, 6)
    log_rate = 1.0 + 0.5 * (x[:, 0] + x[:, 1] * x[:, 2] - torch.relu(x[:, 3]))
    return TensorDataset(x, torch.poisson(log_rate.exp().clamp(max=200)))


def main():
    torch.manual_seed(0)
    loader = DataLoader(hires(1920), batch_size=64, shuffle=True)
    model = CountModel()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    criterion = nn.PoissonNLLLoss(log_input=True, full=True)
    for epoch in range(10):
        total = 0.0
        for x, count in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), count)
            loss.backward()
            optimizer.step()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            total += loss.item() * len(count)
        print(f"epoch {epoch} negative log likelihood {total / len(loader.dataset):.4f}")


if __name__ == "__main__":
    main()
