import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def house_prices(n):
    x = torch.randn(n, 8)
    price = x @ torch.tensor([3.0, 1.0, 0.5, 0.0, -1.0, 2.0, 0.2, -0.3]) + 0.1 * torch.randn(n)
    price.unsqueeze(1)
    return TensorDataset(x, price)


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    loader = DataLoader(house_prices(1024), batch_size=64, shuffle=True)
    for epoch in range(20):
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
