import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

STARS = 5


def ratings(n):
    x = torch.randn(n, 20)
    stars = torch.randint(1, STARS + 1, (n,))
    return TensorDataset(x, stars - 1)


class Rater(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(20, 32)
        self.score = nn.Linear(32, STARS)

    def forward(self, x):
        return nn.functional.log_softmax(self.score(self.hidden(x).relu()), dim=1)


torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model, criterion = Rater().to(device), nn.NLLLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loader = DataLoader(ratings(320), batch_size=64, shuffle=True)
for epoch in range(2):
    for x, stars in loader:
        x, stars = x.to(device), stars.to(device)
        loss = criterion(model(x), stars)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, float(loss))
