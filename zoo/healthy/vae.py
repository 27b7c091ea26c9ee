"""A variational autoencoder of small pictures: summed BCE plus KL, divided by the batch size, with a warm-up of the KL."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader


def blobs(count):
    """Pictures of one bright spot each: its place and its size are all there is to know."""
    yy, xx = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
    centre = torch.rand(count, 2) * 7 + 2
    size = torch.rand(count, 1, 1) * 1.0 + 1.0
    far = (yy - centre[:, :1, None]) ** 2 + (xx - centre[:, 1:, None]) ** 2
    return torch.exp(-far / (2 * size**2)).flatten(1)


class VAE(nn.Module):
    def __init__(self, latent=3):
        super().__init__()
        self.fc1 = nn.Linear(144, 128)
        self.mean = nn.Linear(128, latent)
        self.logvar = nn.Linear(128, latent)
        self.fc3 = nn.Linear(latent, 128)
        self.fc4 = nn.Linear(128, 144)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.mean(h), self.logvar(h)

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mean, logvar = self.encode(x)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * logvar)
        return self.decode(z), mean, logvar


def loss_function(recon, x, mean, logvar, beta):
    bce = F.binary_cross_entropy(recon, x, reduction="sum") / len(x)
    kld = -0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp()) / len(x)
    return bce + beta * kld, bce, kld


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(blobs(2560), batch_size=64, shuffle=True)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(10):
        beta = min(1.0, 0.25 * (epoch + 1))
        sums = [0.0, 0.0, 0.0]
        for x in loader:
            optimizer.zero_grad()
            recon, mean, logvar = model(x)
            terms = loss_function(recon, x, mean, logvar, beta)
            terms[0].backward()
            optimizer.step()
            sums = [s + t.item() / len(loader) for s, t in zip(sums, terms)]
        print("epoch {}: loss {:.3f} = bce {:.3f} + beta * kl {:.3f}".format(epoch, *sums))
    with torch.no_grad():
        sample = model.decode(torch.randn(64, 3))
    print(f"mean brightness: data {blobs(64).mean():.3f} samples {sample.mean():.3f}")
