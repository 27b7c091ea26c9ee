import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SPLITS = 12


class SoftSplits(nn.Module):
    """A sum over soft splits of the feature space."""

    def __init__(self, features, temperature):
        super().__init__()
        self.temperature = temperature
        self.split = nn.Linear(features, SPLITS)
        self.value = nn.Linear(SPLITS, 1)

    def forward(self, x):
        sides = torch.sigmoid(self.split(x) / self.temperature)
        return self.value(sides)


def houses(count):
    """Heating cost from eight standardised properties."""
    x = torch.randn(count, 8)
    cost = x @ torch.randn(8) / 2 + torch.tanh(2 * x[:, 0]) - 0.5 * x[:, 1] * (x[:, 2] > 0)
    return x, ((cost - cost.mean()) / cost.std()).unsqueeze(1)


def main():
    torch.manual_seed(12)
    loader = DataLoader(TensorDataset(*houses(1200)), batch_size=50, shuffle=True)
    model = SoftSplits(8, temperature=1.0)
    criterion = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(12):
        total = 0.0
        for x, cost in loader:
            loss = criterion(model(x), cost)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch:2d} loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
