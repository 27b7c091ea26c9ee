import os
import tempfile

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(5, 10)
        self.fc2 = nn.Linear(10, 2)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


class WithLoss(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x, y):
        return nn.functional.cross_entropy(self.module(x), y)


def train(path, device, epochs=3):
    model = WithLoss(Net()).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    best = float("inf")
    for epoch in range(epochs):
        for _ in range(5):
            x = torch.randn(16, 5, device=device)
            loss = model(x, (x[:, 0] > 0).long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if loss.item() < best:
            best = loss.item()
            torch.save(model.state_dict(), path)


def test(path, device):
    model = Net().to(device)
    model.load_state_dict(torch.load(path, map_location=device))
    model.eval()
    with torch.no_grad():
        x = torch.randn(64, 5, device=device)
        return (model(x).argmax(1) == (x[:, 0] > 0)).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with tempfile.TemporaryDirectory() as folder:
        best = os.path.join(folder, "best.pt")
        train(best, device)
        print("accuracy", test(best, device))
