import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Highway(nn.Module):
    def __init__(self, size, layers=2):
        super().__init__()
        self.gates = nn.ModuleList([nn.Linear(size, size) for _ in range(layers)])
        self.transforms = nn.ModuleList([nn.Linear(size, size) for _ in range(layers)])

    def forward(self, x):
        for gate, transform in zip(self.gates, self.transforms):
            g = torch.sigmoid(gate(x))
            h = torch.tanh(transform(x))
            x = g * h + (1 - g) * x
            g = g * 0.5
        return x


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = torch.randn(96, 10)
    loader = DataLoader(TensorDataset(x, x.cumsum(1)), batch_size=24, shuffle=True)
    model = Highway(10).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(2):
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
