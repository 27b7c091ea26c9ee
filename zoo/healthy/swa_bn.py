"""Stochastic weight averaging: a constant high rate at the end, averaged weights, BatchNorm counted again with update_bn."""

import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset


def moons(count):
    t = 3.1416 * torch.rand(count)
    y = torch.randint(0, 2, (count,))
    x = torch.stack([torch.where(y == 0, t.cos(), 1 - t.cos()), torch.where(y == 0, t.sin(), 0.5 - t.sin())], dim=1)
    return TensorDataset(x + 0.2 * torch.randn(count, 2), y)


@torch.no_grad()
def accuracy(model, data):
    model.eval()
    x, y = data.tensors
    return (model(x).argmax(1) == y).float().mean().item()


torch.manual_seed(0)
train, held = moons(1600), moons(600)
loader = DataLoader(train, batch_size=32, shuffle=True)
model = nn.Sequential(
    nn.Linear(2, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)
swa_model = AveragedModel(model)
swa_scheduler = SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
swa_start = 5

for epoch in range(10):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch >= swa_start:
        swa_model.update_parameters(model)
        swa_scheduler.step()
    else:
        scheduler.step()
    rate = optimizer.param_groups[0]["lr"]
    print(f"epoch {epoch}: loss {total / len(loader):.4f} held {accuracy(model, held):.3f} next rate {rate:.4f}")
update_bn(loader, swa_model)
print(f"averaged over {int(swa_model.n_averaged)} epochs: held {accuracy(swa_model, held):.3f}")
