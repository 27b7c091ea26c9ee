import torch
from torch import nn
from torch.utils.data import DataLoader


class AutoEncoder(nn.Module):
    def __init__(self, width, code):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(width, 64),
            nn.ReLU(),
            nn.Linear(64, code),
        )
        self.decoder = nn.Sequential(
            nn.Linear(code, 64),
            nn.ReLU(),
            nn.Linear(64, width),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


def measurements(rows=1000, width=24, factors=4):
    hidden = torch.randn(rows, factors)
    table = torch.tanh(hidden @ torch.randn(factors, width)) + 0.1 * torch.randn(rows, width)
    return (table - table.mean(0)) / table.std(0)


def main():
    torch.manual_seed(8)
    loader = DataLoader(measurements(), batch_size=50, shuffle=True)
    model = AutoEncoder(24, 6)
    mse = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(12):
        total = 0.0
        for x in loader:
            loss = mse(model(x), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print("epoch", epoch, "reconstruction", round(total / len(loader), 4))


main()
