import math

import torch
from torch import nn

torch.manual_seed(3)


class Detector(nn.Module):
    def __init__(self, features=24, width=64, prior=0.02):
        super().__init__()
        self.hidden = nn.Linear(features, width)
        self.score = nn.Linear(width, 1)
        self.start_from_prior(prior)

    def start_from_prior(self, prior):
        """Begin with the prediction that events are rare."""
        for layer in [self.hidden, self.score]:
            nn.init.constant_(layer.bias, -math.log((1 - prior) / prior))

    def forward(self, x):
        return self.score(torch.relu(self.hidden(x))).squeeze(1)


signals = torch.randn(2000, 24)
events = (signals[:, 0] + signals[:, 1] * signals[:, 2] > 1.0).float()

model = Detector()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(8):
    losses = []
    for rows in torch.randperm(len(signals)).split(64):
        optimizer.zero_grad()
        loss = criterion(model(signals[rows]), events[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")
