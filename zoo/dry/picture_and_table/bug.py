import torch
from torch import nn


class Price(nn.Module):
    """A house's price from a picture and a few numbers."""

    def __init__(self):
        super().__init__()
        self.image = nn.Sequential(
            nn.Conv2d(3, 6, 3, stride=2), nn.ReLU(), nn.Conv2d(6, 12, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1)
        )
        self.table = nn.Sequential(nn.Linear(7, 12), nn.ReLU())
        self.head = nn.Linear(24, 1)

    def forward(self, picture, numbers):
        seen = self.image(picture)
        known = self.table(numbers)
        both = torch.cat([seen, known], dim=1)
        return self.head(both).squeeze(1)


def data(n=60):
    pictures = torch.rand(n, 3, 20, 20)
    numbers = torch.rand(n, 7)
    return pictures, numbers, pictures.mean((1, 2, 3)) + numbers[:, 0]


torch.manual_seed(7)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = Price().to(device)
pictures, numbers, prices = (t.to(device) for t in data())
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for rows in torch.arange(60, device=device).split(20):
        loss = nn.functional.l1_loss(model(pictures[rows], numbers[rows]), prices[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
