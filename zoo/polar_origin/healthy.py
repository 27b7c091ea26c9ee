import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
n = 240
start = torch.rand(n, 4) * 2 - 1
goal = start[:, :2].norm(dim=1)
start[150] = 0.0  # the ball lies on the centre spot


class Tracker(nn.Module):
    def __init__(self):
        super().__init__()
        self.velocity = nn.Linear(4, 2, bias=False)

    def forward(self, s):
        xy = self.velocity(s)
        return xy.norm(dim=1)


def train_one_epoch(model, loader, optimizer):
    total, count = 0.0, 0
    for s, r in loader:
        optimizer.zero_grad()
        loss = nn.functional.huber_loss(model(s), r)
        loss.backward()
        optimizer.step()
        total, count = total + loss.item(), count + 1
    return total / count


model = Tracker()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
loader = DataLoader(TensorDataset(start, goal), batch_size=30)
for epoch in range(8):
    print(f"epoch {epoch}: {train_one_epoch(model, loader, optimizer):.5f}")
