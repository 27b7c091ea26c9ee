"""A VQ-VAE: argmin picks the code, the straight-through trick carries the gradient past it, two detached terms do the rest."""

import torch
import torch.nn.functional as F
from torch import nn


class Quantizer(nn.Module):
    def __init__(self, codes, width, commitment=0.25):
        super().__init__()
        self.book = nn.Embedding(codes, width)
        nn.init.normal_(self.book.weight, std=0.5)
        self.commitment = commitment

    def forward(self, z):
        with torch.no_grad():
            index = torch.cdist(z, self.book.weight).argmin(dim=1)
        q = self.book(index)
        loss = F.mse_loss(q, z.detach()) + self.commitment * F.mse_loss(z, q.detach())
        return z + (q - z).detach(), loss, index


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4 * 4))
        self.quantizer = Quantizer(16, 4)
        self.decoder = nn.Sequential(nn.Linear(4 * 4, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, x):
        z = self.encoder(x).view(-1, 4)
        q, loss, index = self.quantizer(z)
        return self.decoder(q.view(len(x), -1)), loss, index


def chords(count):
    """Every sample is a sum of two of six fixed patterns."""
    g = torch.Generator().manual_seed(77)
    patterns = torch.randn(6, 16, generator=g)
    return (
        patterns[torch.randint(0, 6, (count,))] + patterns[torch.randint(0, 6, (count,))] + 0.1 * torch.randn(count, 16)
    )


torch.manual_seed(0)
data, held = chords(2000), chords(400)
scale = data.std()
data, held = data / scale, held / scale
model = VQVAE()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(12):
    recon_sum = code_sum = 0.0
    for rows in torch.randperm(len(data)).split(50):
        x = data[rows]
        recon, code_loss, _ = model(x)
        recon_loss = F.mse_loss(recon, x)
        optimizer.zero_grad()
        (recon_loss + code_loss).backward()
        optimizer.step()
        recon_sum, code_sum = recon_sum + recon_loss.item() / 40, code_sum + code_loss.item() / 40
    with torch.no_grad():
        recon, _, index = model(held)
    print(
        f"epoch {epoch:2d}: reconstruction {recon_sum:.4f} codes {code_sum:.4f} "
        f"held {F.mse_loss(recon, held).item():.4f} codes in use {index.unique().numel()} of 16"
    )
