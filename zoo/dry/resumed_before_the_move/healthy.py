import tempfile
from pathlib import Path

import torch
from torch import nn


def make():
    model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
    return model, torch.optim.Adam(model.parameters(), lr=1e-2)


def run(model, optimizer, device, steps):
    for _ in range(steps):
        x = torch.randn(32, 6, device=device)
        loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def resume(path, device):
    model, optimizer = make()
    model.to(device)
    checkpoint = torch.load(path, map_location="cpu")
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return model, optimizer


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "last.pt"
    model, optimizer = make()
    model.to(device)
    print("first part", run(model, optimizer, device, 5))
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)

    model, optimizer = resume(path, device)
    print("second part", run(model, optimizer, device, 5))
