"""A Wasserstein GAN with gradient penalty (double backward), two optimisers, several critic steps for one of the generator."""

import torch
from torch import nn


def penalty(critic, real, fake):
    mix = torch.rand(len(real), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_(True)
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return ((slope.norm(dim=1) - 1) ** 2).mean()


def main():
    torch.manual_seed(0)
    generator = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2))
    critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
    opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.9))
    opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
    for it in range(30):
        for _ in range(3):
            real = torch.randn(32, 2) * 0.3 + torch.tensor([2.0, -1.0])
            fake = generator(torch.randn(32, 4)).detach()
            loss_c = critic(fake).mean() - critic(real).mean() + 10 * penalty(critic, real, fake)
            opt_c.zero_grad()
            loss_c.backward()
            opt_c.step()
        loss_g = -critic(generator(torch.randn(32, 4))).mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
        if it % 6 == 0:
            print(f"it {it:2d} critic {loss_c.item():+.4f} generator {loss_g.item():+.4f}")


if __name__ == "__main__":
    main()
