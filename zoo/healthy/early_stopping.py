"""ReduceLROnPlateau, early stopping, and at the very end the best weights are loaded back, once and on purpose."""

import copy

import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, TensorDataset, random_split


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.bad, self.state = patience, float("inf"), 0, None

    def __call__(self, value, model):
        if value < self.best - 1e-4:
            self.best, self.bad, self.state = value, 0, copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience


class Wide(nn.Module):
    """A wide and a deep way from the input to the output, added."""

    def __init__(self):
        super().__init__()
        self.wide = nn.Linear(8, 1)
        self.deep = nn.Sequential(nn.Linear(8, 32), nn.LeakyReLU(), nn.Linear(32, 16), nn.LeakyReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return (self.wide(x) + self.deep(x)).squeeze(1)


def mean_loss(model, loader):
    model.eval()
    with torch.no_grad():
        losses = [nn.functional.huber_loss(model(x), y, reduction="sum").item() for x, y in loader]
    model.train()
    return sum(losses) / len(loader.dataset)


torch.manual_seed(21)
x = torch.randn(2400, 8)
y = x[:, 0] - 2 * x[:, 1] + x[:, 2].abs() * x[:, 3] + 0.2 * torch.randn(2400)
train, val, test = random_split(TensorDataset(x, y), [1280, 480, 640])
train_loader = DataLoader(train, batch_size=80, shuffle=True)
val_loader, test_loader = DataLoader(val, batch_size=400), DataLoader(test, batch_size=400)
model = Wide()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-2)
scheduler = ReduceLROnPlateau(optimizer, factor=0.2, patience=1)
stopper = EarlyStopping(patience=4)
for epoch in range(30):
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.huber_loss(model(xb), yb)
        loss.backward()
        optimizer.step()
    val_loss = mean_loss(model, val_loader)
    scheduler.step(val_loss)
    print(f"epoch {epoch:2d}: val {val_loss:.4f} rate {optimizer.param_groups[0]['lr']:.6f}")
    if stopper(val_loss, model):
        print("no better for four epochs")
        break
model.load_state_dict(stopper.state)
print(f"test loss of the best weights {mean_loss(model, test_loader):.4f}")
