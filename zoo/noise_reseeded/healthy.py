import torch
from torch import nn

BATCH = 32


class Denoiser(nn.Module):
    def __init__(self, size=24, hidden=48):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(size, hidden), nn.ReLU())
        self.decode = nn.Linear(hidden, size)

    def forward(self, x):
        return self.decode(self.encode(x))


def clean_signals(n, size=24):
    g = torch.Generator().manual_seed(0)
    grid = torch.linspace(0, 6.28, size)
    speed = 1 + torch.rand(n, 1, generator=g)
    shift = 6.28 * torch.rand(n, 1, generator=g)
    return torch.sin(speed * grid + shift)


@torch.no_grad()
def fresh_noise_error(model, signals):
    noisy = signals + 0.5 * torch.randn(signals.shape)
    return nn.functional.mse_loss(model(noisy), signals).item()


def main():
    torch.manual_seed(0)
    signals = clean_signals(256)
    model = Denoiser()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(30):
        error = 0.0
        for clean in signals.split(BATCH):
            noisy = clean + 0.5 * torch.randn(clean.shape)
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(noisy), clean)
            loss.backward()
            optimizer.step()
            error += loss.item() * len(clean) / len(signals)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1} train {error:.4f} fresh noise {fresh_noise_error(model, signals):.4f}")


if __name__ == "__main__":
    main()
