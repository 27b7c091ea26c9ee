import tempfile
from pathlib import Path

import torch
from torch import nn


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 8), nn.Tanh(), nn.Linear(8, 3))
        self.decoder = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 12))

    def forward(self, x):
        code = self.encoder(x)
        return self.decoder(code)


def earlier_run(path):
    """Stands for last week's run."""
    model = AutoEncoder()
    state = model.state_dict()
    torch.save({"model": state, "epoch": 3}, path)


def fit(model, optimizer, epochs):
    data = torch.randn(160, 3) @ torch.randn(3, 12)
    for epoch in range(epochs):
        for batch in data.split(20):
            loss = nn.functional.mse_loss(model(batch), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"  epoch {epoch}: {loss.item():.4f}")


torch.manual_seed(0)
with tempfile.TemporaryDirectory() as folder:
    checkpoint = Path(folder) / "last.pt"
    earlier_run(checkpoint)
    print("warm-up on a fresh model")
    model = AutoEncoder()
    fit(model, torch.optim.Adam(model.parameters(), lr=1e-2), epochs=2)
    print("resume")
    model.load_state_dict(torch.load(checkpoint)["model"])
    fit(model, torch.optim.Adam(model.parameters(), lr=1e-3), epochs=2)
