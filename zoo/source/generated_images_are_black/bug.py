import torch
from PIL import Image
from torch import nn


class Generator(nn.Module):
    def __init__(self, noise=64):
        super().__init__()
        self.layers = nn.Sequential(
            nn.ConvTranspose2d(noise, 64, 4),
            nn.ReLU(),
            nn.ConvTranspose2d(64, 3, 8, stride=4, padding=2),
        )

    def forward(self, z):
        return torch.sigmoid(self.layers(z))


def save_samples(generator, count, folder):
    generator.eval()
    with torch.no_grad():
        samples = generator(torch.randn(count, 64, 1, 1))
    for index, sample in enumerate(samples):
        pixels = sample.permute(1, 2, 0).to(torch.uint8)
        Image.fromarray(pixels.numpy()).save(f"{folder}/{index:03d}.png")


if __name__ == "__main__":
    save_samples(Generator(), 8, "samples")
