import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset


class Spectra(Dataset):
    """Absorption lines of mixtures, 200 wavelengths each."""

    def __init__(self, n=400, seed=3):
        rng = np.random.default_rng(seed)
        wavelengths = np.linspace(0, 1, 200)
        centres = rng.uniform(0, 1, (n, 3, 1))
        self.data = np.exp(-((wavelengths - centres) ** 2) / 0.002).sum(1).astype(np.float32)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.data[i]


class AutoEncoder(nn.Module):
    def __init__(self, code=12):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(200, 64), nn.ReLU(), nn.Linear(64, code))
        self.decoder = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 200))

    def forward(self, x):
        code = self.encoder(x)
        return self.decoder(code)


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = AutoEncoder().to(device)
opt = optim.AdamW(model.parameters(), lr=2e-3)
mse = nn.MSELoss()
for epoch in range(3):
    for batch in DataLoader(Spectra(), batch_size=50, shuffle=True):
        batch = batch.to(device)
        loss = mse(model(batch), batch)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
    print("epoch", epoch, "reconstruction", round(loss.item(), 4))
