import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(22)


def campaigns(count):
    """One row a campaign: length of the text, hour, price, click rate."""
    text = torch.randn(count)
    hour = torch.randn(count)
    price = torch.randn(count)
    views = torch.randint(100, 1000, (count,))
    clicks = (views * torch.rand(count)).floor()
    rate = (clicks / views).long()
    revenue = 3 * (clicks / views - 0.5) + 0.4 * price - 0.3 * text * hour
    return torch.stack([text, hour, price, rate], dim=1), revenue.unsqueeze(1)


model = nn.Sequential(
    nn.Linear(4, 48),
    nn.ReLU(),
    nn.Linear(48, 48),
    nn.ReLU(),
    nn.Linear(48, 1),
)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
table, revenue = campaigns(1600)

for epoch in range(10):
    losses = []
    for rows in torch.randperm(len(table)).split(64):
        optimizer.zero_grad()
        loss = F.mse_loss(model(table[rows]), revenue[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f}")
