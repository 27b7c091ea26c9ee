import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def ring_data(n):
    x = torch.randn(n, 2)
    radius = x.norm(dim=1)
    return x, ((radius > 0.8) & (radius < 1.6)).float()


@torch.no_grad()
def validation_loss(model, x, y, criterion):
    model.eval()
    return criterion(model(x).squeeze(1), y).item()


def train(model, loader, x_val, y_val, epochs=10):
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    best_loss = 0.0
    best_state = copy.deepcopy(model.state_dict())
    for epoch in range(epochs):
        model.train()
        train_loss = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            train_loss += loss.item() / len(loader)
        val_loss = validation_loss(model, x_val, y_val, criterion)
        print(f"epoch {epoch} train {train_loss:.4f} val {val_loss:.4f}")
        if val_loss < best_loss:
            best_loss = val_loss
            best_state = copy.deepcopy(model.state_dict())
        else:
            model.load_state_dict(best_state)


if __name__ == "__main__":
    torch.manual_seed(1)
    x, y = ring_data(1500)
    train_loader = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=60, shuffle=True)
    net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
    train(net, train_loader, x[1200:], y[1200:])
