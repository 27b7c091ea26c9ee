import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def gan_losses(critic, real, fake):
    ones = torch.ones(real.size(0), 1).to(device)
    zeros = torch.zeros_like(ones)
    on_real = F.binary_cross_entropy_with_logits(critic(real), ones)
    on_fake = F.binary_cross_entropy_with_logits(critic(fake), zeros)
    return on_real + on_fake


def main():
    critic = nn.Sequential(nn.Linear(64, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1)).to(device)
    real = torch.rand(128, 64, device=device)
    fake = torch.rand(128, 64, device=device)
    print(gan_losses(critic, real, fake).item())


if __name__ == "__main__":
    main()
