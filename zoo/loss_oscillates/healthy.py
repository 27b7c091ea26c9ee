import torch
from torch import nn

torch.manual_seed(6)

# Bike rentals from weather and calendar, all standardised.
features = torch.randn(1000, 8)
rentals = features @ torch.randn(8) + 0.3 * torch.randn(1000)
rentals = ((rentals - rentals.mean()) / rentals.std()).unsqueeze(1)


def batches(size=100):
    while True:
        for rows in torch.randperm(len(features)).split(size):
            yield features[rows], rentals[rows]


model = nn.Linear(8, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.005, momentum=0.9)

stream = batches()
for step in range(400):
    x, y = next(stream)
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 8 == 0:
        print(f"step {step:3d} loss {loss.item():.4f}")
