import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Engines(Dataset):
    def __init__(self, n=200):
        rng = np.random.default_rng(0)
        raw = rng.normal(50, 9, size=(n, 14))
        self.x = (raw - raw.mean(axis=0)) / raw.std(axis=0)
        self.y = raw[:, 0].astype("float32") / 50

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]).float(), self.y[i]


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(14, 20)
        self.fc2 = nn.Linear(20, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        return self.fc2(x).flatten()


def fit(model, data, epochs=2):
    device = next(model.parameters()).device
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(epochs):
        for x, y in DataLoader(data, batch_size=40, shuffle=True):
            loss = nn.functional.mse_loss(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


torch.manual_seed(0)
fit(Regressor().to("cuda" if torch.cuda.is_available() else "cpu"), Engines())
