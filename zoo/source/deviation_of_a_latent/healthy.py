import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width, latent):
        super().__init__()
        self.hidden = nn.Linear(width, 64)
        self.mean = nn.Linear(64, latent)
        self.log_variance = nn.Linear(64, latent)

    def forward(self, x):
        h = torch.relu(self.hidden(x))
        return self.mean(h), self.log_variance(h)


def sample(mean, log_variance):
    deviation = (0.5 * log_variance).exp()
    return mean + deviation * torch.randn_like(mean)


encoder = Encoder(20, 4)
decoder = nn.Linear(4, 20)
x = torch.randn(16, 20)
mean, log_variance = encoder(x)
loss = nn.functional.mse_loss(decoder(sample(mean, log_variance)), x)
loss.backward()
