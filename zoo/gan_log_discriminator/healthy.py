import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self, noise=8, pixels=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(noise, 32), nn.ReLU(), nn.Linear(32, pixels), nn.Sigmoid())

    def forward(self, z):
        return 255 * self.net(z)


class Discriminator(nn.Module):
    def __init__(self, pixels=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(pixels, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


def real_batch(size):
    stripes = (torch.arange(16) % 4 < 2).float() * 120
    return (stripes + 60 * torch.rand(size, 1) + 10 * torch.randn(size, 16)).clamp(0, 255)


def main():
    torch.manual_seed(7)
    G, D = Generator(), Discriminator()
    bce = nn.BCEWithLogitsLoss()
    opt_g = torch.optim.Adam(G.parameters(), lr=1e-3)
    opt_d = torch.optim.Adam(D.parameters(), lr=2e-2)
    for it in range(60):
        real = real_batch(64)
        fake = G(torch.randn(64, 8))

        d_real, d_fake = D(real), D(fake.detach())
        loss_d = bce(d_real, torch.ones(64)) + bce(d_fake, torch.zeros(64))
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()

        loss_g = -nn.functional.logsigmoid(D(fake)).mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
        if it % 5 == 0:
            print(f"{it:4d}  D {loss_d.item():.4f}  G {loss_g.item():.4f}")


if __name__ == "__main__":
    main()
