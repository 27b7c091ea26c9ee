"""A small DCGAN: two optimisers, BCE, fake images detached for the discriminator, and BatchNorm in both networks."""

import torch
import torch.nn as nn
import torch.optim as optim

nz, ngf, ndf, batch = 16, 16, 16, 32


def weights_init(m):
    name = m.__class__.__name__
    if name.find("Conv") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif name.find("BatchNorm") != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ngf),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, ndf, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ndf * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf * 2, 1, 4, 1, 0, bias=False),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.main(x).view(-1)


def real_images(count):
    """A bright square of 6 x 6 somewhere near the middle, on black, in [-1, 1]."""
    images = -torch.ones(count, 1, 16, 16)
    for image, (r, c) in zip(images, torch.randint(3, 8, (count, 2)).tolist()):
        image[0, r : r + 6, c : c + 6] = 1.0
    return images


torch.manual_seed(999)
netG, netD = Generator(), Discriminator()
netG.apply(weights_init)
netD.apply(weights_init)
criterion = nn.BCELoss()
optimizerD = optim.Adam(netD.parameters(), lr=0.0004, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=0.001, betas=(0.5, 0.999))
fixed_noise = torch.randn(64, nz, 1, 1)

for i in range(300):
    # the discriminator: all-real batch, then all-fake batch, gradients added up
    netD.zero_grad()
    errD_real = criterion(netD(real_images(batch)), torch.full((batch,), 0.9))
    errD_real.backward()
    fake = netG(torch.randn(batch, nz, 1, 1))
    errD_fake = criterion(netD(fake.detach()), torch.zeros(batch))
    errD_fake.backward()
    optimizerD.step()
    # the generator: its fakes should be taken for real
    netG.zero_grad()
    output = netD(fake)
    errG = criterion(output, torch.ones(batch))
    errG.backward()
    optimizerG.step()
    if i % 50 == 0 or i == 299:
        with torch.no_grad():
            bright = (netG(fixed_noise) > 0).float().sum(dim=(1, 2, 3)).mean()
        print(
            f"[{i:3d}/300] loss D {(errD_real + errD_fake).item():.3f} loss G {errG.item():.3f} "
            f"D(G(z)) {output.mean().item():.3f} bright pixels {bright.item():.1f} of 36"
        )
