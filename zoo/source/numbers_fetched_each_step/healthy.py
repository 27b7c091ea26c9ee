"""A GAN that logs every fifty steps."""

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
generator = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1)).to(device)
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(64, 1, device=device), torch.zeros(64, 1, device=device)
log = []

for step in range(1000):
    real = torch.randn(64, 2, device=device) * 0.5 + 1.0
    fake = generator(torch.randn(64, 8, device=device))
    opt_d.zero_grad()
    loss_real = criterion(critic(real), ones)
    loss_fake = criterion(critic(fake.detach()), zeros)
    (loss_real + loss_fake).backward()
    opt_d.step()
    opt_g.zero_grad()
    loss_g = criterion(critic(fake), ones)
    loss_g.backward()
    opt_g.step()
    if step % 50 == 0:
        log.append((loss_real.item(), loss_fake.item(), loss_g.item()))
