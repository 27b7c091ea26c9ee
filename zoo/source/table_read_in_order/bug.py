import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Customers(Dataset):
    def __init__(self, path, target="churned"):
        frame = pd.read_csv(path).fillna(0)
        self.y = torch.tensor(frame.pop(target).values, dtype=torch.float32)
        self.x = torch.tensor(frame.values, dtype=torch.float32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, row):
        return self.x[row], self.y[row]


def fit(epochs=20):
    train_loader = DataLoader(Customers("train.csv"), batch_size=256)
    valid_loader = DataLoader(Customers("valid.csv"), batch_size=256, shuffle=True)
    model = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 1), nn.Flatten(0))
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        model.train()
        for x, y in train_loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            total = sum(criterion(model(x), y).item() for x, y in valid_loader)
        print(f"epoch {epoch}: validation {total / len(valid_loader):.4f}")


if __name__ == "__main__":
    fit()
