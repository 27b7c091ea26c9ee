"""A Wasserstein GAN with weight clipping: the critic's loss is negative, its weights are clamped after every step."""

import torch
from torch import nn


class Cloud:
    """Points of a slanted ellipse that lies away from the origin."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.shape = torch.tensor([[0.8, 0.5], [0.0, 0.2]])
        self.centre = torch.tensor([1.0, -0.5])

    def sample(self, count):
        x = torch.randn(count, 2, generator=self.generator)
        return x @ self.shape + self.centre


def mlp(n_in, n_out, width=64):
    return nn.Sequential(
        nn.Linear(n_in, width), nn.LeakyReLU(0.1), nn.Linear(width, width), nn.LeakyReLU(0.1), nn.Linear(width, n_out)
    )


def set_requires_grad(net, flag):
    for p in net.parameters():
        p.requires_grad = flag


def main():
    torch.manual_seed(4)
    data = Cloud(4)
    generator, critic = mlp(8, 2), mlp(2, 1)
    opt_g = torch.optim.RMSprop(generator.parameters(), lr=5e-4)
    opt_c = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
    clip = 0.1
    for it in range(161):
        set_requires_grad(critic, True)
        for _ in range(5):
            real = data.sample(64)
            with torch.no_grad():
                fake = generator(torch.randn(64, 8))
            distance = critic(real).mean() - critic(fake).mean()
            opt_c.zero_grad()
            (-distance).backward()
            opt_c.step()
            for p in critic.parameters():
                p.data.clamp_(-clip, clip)
        set_requires_grad(critic, False)
        fooled = critic(generator(torch.randn(64, 8))).mean()
        opt_g.zero_grad()
        (-fooled).backward()
        opt_g.step()
        if it % 20 == 0:
            with torch.no_grad():
                fake, real = generator(torch.randn(2000, 8)), data.sample(2000)
                centre = (fake.mean(0) - real.mean(0)).norm()
                spread = (fake.T.cov() - real.T.cov()).norm()
            print(f"it {it:3d} distance {distance.item():+.4f} centres {centre:.3f} covariances {spread:.3f} apart")


if __name__ == "__main__":
    main()
