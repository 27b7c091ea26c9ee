import torch
from torch import nn
from torch.utils.data import DataLoader


class AutoEncoder(nn.Module):
    def __init__(self, features=40, code=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(features, 32), nn.ReLU(), nn.Linear(32, code))
        self.decoder = nn.Sequential(nn.Linear(code, 32), nn.ReLU(), nn.Linear(32, features))

    def forward(self, x):
        code = self.encoder(x).detach()
        return self.decoder(code), code


def spectra(n=1280, features=40, factors=4):
    """A few strong factors mixed into many noisy channels."""
    g = torch.Generator().manual_seed(4)
    strength = torch.randn(n, factors, generator=g)
    mixing = torch.randn(factors, features, generator=g) / factors**0.5
    return strength @ mixing + 0.1 * torch.randn(n, features, generator=g)


def fit(model, loader, epochs=12, lr=3e-3):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    mse = nn.MSELoss()
    for epoch in range(epochs):
        total = 0.0
        for x in loader:
            optimizer.zero_grad()
            reconstruction, code = model(x)
            loss = mse(reconstruction, x)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch:2d} reconstruction {total / len(loader):.4f} code spread {code.std().item():.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    fit(AutoEncoder(), DataLoader(spectra(), batch_size=64, shuffle=True))
