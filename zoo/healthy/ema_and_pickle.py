"""Exponential moving average by deepcopy, early stopping, a pickled model, and a validation minimum from +inf."""

import copy
import io
import pickle

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@torch.no_grad()
def update_average(average, model, decay=0.9):
    for a, p in zip(average.parameters(), model.parameters()):
        a.lerp_(p, 1 - decay)
    for a, b in zip(average.buffers(), model.buffers()):
        a.copy_(b)


def build():
    return nn.Sequential(nn.Conv1d(1, 8, 3, padding=1), nn.BatchNorm1d(8), nn.ReLU(), nn.Flatten(), nn.Linear(96, 2))


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(256, 1, 12)
    y = (x.mean(dim=(1, 2)) > 0).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True, num_workers=2, persistent_workers=True)
    model = build()
    average = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, amsgrad=True)
    best, kept = float("inf"), None
    for epoch in range(3):
        for xb, yb in loader:
            loss = nn.functional.cross_entropy(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            update_average(average, model)
        average.eval()
        held = nn.functional.cross_entropy(average(x), y).item()
        if held < best:
            best, kept = held, pickle.dumps(average)
        print(f"epoch {epoch} averaged loss {held:.4f}")
    again = pickle.load(io.BytesIO(kept))
    print("best again", round(nn.functional.cross_entropy(again(x), y).item(), 4) == round(best, 4))
