import torch
from torch import nn

FOLDS, EPOCHS, BATCH = 3, 8, 32


def build_model():
    return nn.Sequential(nn.Linear(8, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU(), nn.Linear(48, 1))


def make_table(rows=900):
    g = torch.Generator().manual_seed(2)
    x = torch.randn(rows, 8, generator=g)
    y = x[:, 0] * x[:, 1] + torch.relu(x[:, 2]) - x[:, 3] + 0.1 * torch.randn(rows, generator=g)
    return x, y.unsqueeze(1)


def run_epoch(model, x, y, optimizer, criterion):
    total = 0.0
    for rows in torch.randperm(len(x)).split(BATCH):
        optimizer.zero_grad()
        loss = criterion(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    return total / len(x)


def cross_validate(x, y):
    criterion = nn.MSELoss()
    model = build_model()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    fold_of = torch.arange(len(x)) % FOLDS
    scores = []
    for fold in range(FOLDS):
        model = build_model()
        train, held_out = fold_of != fold, fold_of == fold
        for _ in range(EPOCHS):
            train_loss = run_epoch(model, x[train], y[train], optimizer, criterion)
        with torch.no_grad():
            scores.append(criterion(model(x[held_out]), y[held_out]).item())
        print(f"fold {fold}: train {train_loss:.4f} held out {scores[-1]:.4f}")
    print(f"mean over folds: {sum(scores) / FOLDS:.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    cross_validate(*make_table())
