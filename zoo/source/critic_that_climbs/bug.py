import torch
from torch import nn

LATENT = 32


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(LATENT, 128), nn.ReLU(), nn.Linear(128, 2))

    def forward(self, z):
        return self.body(z)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))

    def forward(self, x):
        return self.body(x)


def train(real, rounds=2000):
    generator, critic = Generator(), Critic()
    opt_g = torch.optim.Adam(generator.parameters(), lr=1e-4, betas=(0.5, 0.9))
    opt_c = torch.optim.Adam(critic.parameters(), lr=-1e-4, betas=(0.5, 0.9))
    for i in range(rounds):
        fake = generator(torch.randn(len(real), LATENT))
        distance = critic(real).mean() - critic(fake.detach()).mean()
        opt_c.zero_grad()
        distance.backward()
        opt_c.step()

        opt_g.zero_grad()
        loss = -critic(fake).mean()
        loss.backward()
        opt_g.step()
    return generator
