import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Transactions(Dataset):
    def __init__(self, n=256):
        g = torch.Generator().manual_seed(0)
        self.x = torch.randn(n, 10, generator=g)
        self.y = (self.x[:, 0] * self.x[:, 1] > 0.8).float()

    def __len__(self):
        return self.x.shape[0]

    def __getitem__(self, i):
        return {"features": self.x[i], "fraud": self.y[i]}


class FraudModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1), nn.Sigmoid())

    def forward(self, features):
        return self.body(features).squeeze(1)


def train_epoch(model, loader, criterion, optimizer, device):
    model.train()
    total = 0.0
    for batch in loader:
        batch = {key: value.to(device) for key, value in batch.items()}
        probability = model(batch["features"])
        loss = criterion(probability, batch["fraud"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch["fraud"])
    return total / len(loader.dataset)


def main():
    torch.manual_seed(3)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = FraudModel().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(Transactions(), batch_size=32, shuffle=True)
    for epoch in range(2):
        print(train_epoch(model, loader, nn.BCELoss(), optimizer, device))


if __name__ == "__main__":
    main()
