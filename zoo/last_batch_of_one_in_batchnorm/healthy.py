import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class WineNet(nn.Module):
    def __init__(self, features=11, classes=3):
        super().__init__()
        self.fc1 = nn.Linear(features, 32)
        self.bn1 = nn.BatchNorm1d(32)
        self.fc2 = nn.Linear(32, 16)
        self.fc3 = nn.Linear(16, classes)

    def forward(self, x):
        x = torch.relu(self.bn1(self.fc1(x)))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


def load_wines(n=321):
    g = torch.Generator().manual_seed(0)
    x = torch.randn(n, 11, generator=g)
    quality = x[:, 0] + 0.7 * x[:, 3] - 0.7 * x[:, 7]
    return x, torch.bucketize(quality, torch.tensor([-0.6, 0.6]))


def train(model, loader, epochs=12, lr=0.01):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    criterion = nn.CrossEntropyLoss()
    model.train()
    for epoch in range(epochs):
        losses = []
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f}")


def main():
    torch.manual_seed(1)
    loader = DataLoader(TensorDataset(*load_wines()), batch_size=32, shuffle=True, drop_last=True)
    train(WineNet(), loader)


if __name__ == "__main__":
    main()
