import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
rng = np.random.default_rng(9)

# Power of a wind turbine from weather data, standardised.
weather = rng.standard_normal((1600, 6)).astype(np.float32)
power = np.tanh(weather[:, 0]) + 0.5 * weather[:, 1] - 0.3 * weather[:, 2] * weather[:, 3]
power = ((power - power.mean()) / power.std()).astype(np.float32)[:, None]

loader = DataLoader(
    TensorDataset(torch.from_numpy(weather), torch.from_numpy(power)),
    batch_size=64,
    shuffle=True,
)

lr = 0.05
net = nn.Sequential(nn.Linear(6, 50), nn.Tanh(), nn.Linear(50, 50), nn.Tanh(), nn.Linear(50, 1))
mse = nn.MSELoss()
opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)

for epoch in range(12):
    epoch_loss = 0.0
    for inputs, target in loader:
        opt.zero_grad()
        loss = mse(net(inputs), target)
        loss.backward()
        opt.step()
        epoch_loss += loss.item() * len(inputs)
    print(f"Epoch {epoch + 1:02d} | loss {epoch_loss / 1600:.5f}")
