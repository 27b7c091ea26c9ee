import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def read(rows=96):
    rng = np.random.default_rng(8)
    table = rng.integers(0, 256, (rows, 1 + 14 * 14))
    table[:, 0] %= 10
    return torch.tensor(table[:, 1:] / 255.0, dtype=torch.float32), torch.tensor(table[:, 0])


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 6, 3), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 12, 3), nn.Tanh())
        self.head = nn.Linear(12 * 4 * 4, 10)

    def forward(self, x):
        x = self.body(x)
        return self.head(x.flatten(start_dim=1))


torch.manual_seed(8)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
digits, labels = read()
digits = digits.view(-1, 1, 14, 14)
loader = DataLoader(TensorDataset(digits, labels), batch_size=16, shuffle=True)
net = LeNet().to(device)
optimizer = torch.optim.Rprop(net.parameters())
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
