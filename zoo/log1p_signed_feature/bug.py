import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Payments(Dataset):
    """Amounts in euros; refunds are negative."""

    def __init__(self, n=600):
        g = torch.Generator().manual_seed(21)
        self.amount = torch.rand(n, 4, generator=g) * 50
        self.amount[337, 2] = -12.5
        self.fraud = (self.amount.sum(1) > 110).float()

    def __len__(self):
        return len(self.amount)

    def __getitem__(self, i):
        return {"amount": self.amount[i], "fraud": self.fraud[i]}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, amount):
        scaled = torch.log1p(amount)
        return self.net(scaled).squeeze(-1)


def train_one_epoch(model, loader, optimizer, criterion):
    model.train()
    losses = []
    for batch in loader:
        optimizer.zero_grad()
        loss = criterion(model(batch["amount"]), batch["fraud"])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(Payments(), batch_size=50)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(5):
        print(epoch, train_one_epoch(model, loader, optimizer, nn.BCEWithLogitsLoss()))
