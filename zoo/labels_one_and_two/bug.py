import numpy as np
import torch
from torch import nn, optim

rng = np.random.RandomState(4)
torch.manual_seed(4)


def patients(count):
    """Blood values; outcome 1 = healthy, 2 = ill."""
    blood = rng.normal(size=(count, 8))
    risk = blood[:, 0] - 0.5 * blood[:, 1] + blood[:, 2] * blood[:, 3]
    outcome = np.where(risk > 0, 2, 1)
    return blood.astype("float32"), outcome.astype("float32")


class RiskModel(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.inp = nn.Linear(8, hidden)
        self.mid = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        x = torch.relu(self.inp(x))
        x = torch.relu(self.mid(x))
        return self.out(x)


blood, outcome = patients(1000)
x_train = torch.tensor(blood)
y_train = torch.tensor(outcome).unsqueeze(1)

model = RiskModel()
loss_function = nn.BCEWithLogitsLoss()
optimizer = optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(10):
    for k in range(0, 1000, 40):
        logits = model(x_train[k : k + 40])
        loss = loss_function(logits, y_train[k : k + 40])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch %d loss %.4f" % (epoch, loss.item()))
