import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Taxi(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, trip):
        return self.net(trip)


def log_error(prediction, fare):
    return ((torch.log1p(prediction.abs()) - torch.log1p(fare)) ** 2).mean()


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
trips = torch.rand(240, 5)
fares = 3 + 10 * trips[:, 0] + 2 * trips[:, 1]
loader = DataLoader(TensorDataset(trips, fares), batch_size=40, shuffle=True)
model = Taxi().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for trip, fare in loader:
        loss = log_error(model(trip.to(device)), fare.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
