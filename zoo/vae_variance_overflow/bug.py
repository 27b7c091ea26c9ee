import torch
import torch.nn as nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, inp=24, latent=4):
        super().__init__()
        self.enc = nn.Linear(inp, 32)
        self.mu = nn.Linear(32, latent)
        self.logvar = nn.Linear(32, latent)
        self.dec = nn.Sequential(nn.Linear(latent, 32), nn.ReLU(), nn.Linear(32, inp))

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + std * torch.randn_like(std)

    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        return self.dec(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon, x, mu, logvar, beta=1.0):
    mse = F.mse_loss(recon, x)
    kld = -0.5 * torch.mean(1 + logvar - mu.pow(2) - logvar.exp())
    return mse + beta * kld


if __name__ == "__main__":
    torch.manual_seed(1)
    data = torch.randn(320, 6) @ torch.randn(6, 24) * 3
    model = VAE()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(5):
        total = 0.0
        for batch in data.split(32):
            recon, mu, logvar = model(batch)
            loss = loss_function(recon, batch, mu, logvar)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"====> Epoch {epoch} average loss {total / 10:.4f}")
