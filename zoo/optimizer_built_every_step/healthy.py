import torch
import torch.nn as nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, features=20, latent=3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(features, 48), nn.Tanh())
        self.mu = nn.Linear(48, latent)
        self.log_var = nn.Linear(48, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, 48), nn.Tanh(), nn.Linear(48, features))

    def forward(self, x):
        h = self.encoder(x)
        mu, log_var = self.mu(h), self.log_var(h).clamp(-8, 4)
        z = mu + torch.exp(0.5 * log_var) * torch.randn_like(mu)
        return self.decoder(z), mu, log_var


def elbo(reconstruction, x, mu, log_var):
    fit = F.mse_loss(reconstruction, x, reduction="none").sum(dim=1)
    kl = 0.5 * (mu**2 + log_var.exp() - 1 - log_var).sum(dim=1)
    return (fit + 0.1 * kl).mean()


def train_step(model, optimizer, batch):
    optimizer.zero_grad()
    reconstruction, mu, log_var = model(batch)
    loss = elbo(reconstruction, batch, mu, log_var)
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(0)
    factors = torch.randn(1024, 3)
    data = torch.tanh(factors @ torch.randn(3, 20)) + 0.05 * torch.randn(1024, 20)
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(15):
        losses = [train_step(model, optimizer, data[rows]) for rows in torch.randperm(1024).split(64)]
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.3f}")


if __name__ == "__main__":
    main()
