import torch
from torch import nn


class Discriminator(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(16, 32, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
        )
        self.real = nn.Linear(32 * 7 * 7, 1)
        self.label = nn.Sequential(
            nn.Linear(32 * 7 * 7, classes),
            nn.LogSoftmax(dim=1),
        )

    def forward(self, images):
        features = self.features(images)
        return self.real(features).squeeze(1), self.label(features)


def train(loader, epochs):
    discriminator = Discriminator()
    optimizer = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    adversarial, auxiliary = nn.BCEWithLogitsLoss(), nn.NLLLoss()
    for _ in range(epochs):
        for images, labels in loader:
            validity, classes = discriminator(images)
            loss = adversarial(validity, torch.ones_like(validity)) + auxiliary(classes, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return discriminator
