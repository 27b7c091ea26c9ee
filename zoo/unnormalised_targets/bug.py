import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def flats(count=1000):
    """Area, rooms, floor, age (standardised), and the price."""
    area, rooms, floor, age = torch.randn(4, count)
    price = 240_000 + 60_000 * area + 15_000 * rooms * (age < 0) - 20_000 * age + 5_000 * floor
    return torch.stack([area, rooms, floor, age], dim=1), price.unsqueeze(1)


class PriceNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.layers(x)


def train(model, loader, epochs):
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        total = 0.0
        for features, price in loader:
            prediction = model(features)
            loss = criterion(prediction, price)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch:2d} loss {total / len(loader):.6g}")


torch.manual_seed(0)
features, price = flats()
train(PriceNet(), DataLoader(TensorDataset(features, price), batch_size=50, shuffle=True), epochs=15)
