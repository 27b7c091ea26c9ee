import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


def customers(n):
    months = torch.randn(n, 1)
    calls = torch.randn(n, 1)
    bills = torch.randn(n, 3)
    leaves = (1.5 * calls - 2 * months + bills[:, :1] * bills[:, 1:2] > 0).float()
    return torch.cat([months, calls, bills], dim=1), leaves


def train_one_epoch(model, loader, loss_fn, optimizer):
    model.train()
    total = 0.0
    for features, churned in loader:
        optimizer.zero_grad()
        output = model(features)
        loss = loss_fn(output, churned)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(features)
    return total / len(loader.dataset)


def main():
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(*customers(960)), batch_size=64, shuffle=True)
    model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))
    loss_fn = nn.BCELoss()
    optimizer = optim.AdamW(model.parameters(), lr=5e-3)
    for epoch in range(10):
        print(f"epoch {epoch}: {train_one_epoch(model, loader, loss_fn, optimizer):.4f}")


if __name__ == "__main__":
    main()
