import torch
import torch.nn as nn

torch.manual_seed(9)

# Sensor readings in, three standardised quantities out: temperature, humidity, pressure.
n_samples, n_sensors = 900, 10
readings = torch.randn(n_samples, n_sensors)
mixing = torch.randn(n_sensors, 3) / n_sensors**0.5
quantities = readings @ mixing + 0.5 * torch.sin(2 * readings[:, :3]) + 0.05 * torch.randn(n_samples, 3)


class Calibration(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_sensors, 48), nn.GELU(), nn.Linear(48, 48), nn.GELU())
        self.out = nn.Linear(48, 3)

    def forward(self, x):
        return self.out(self.layers(x))


model = Calibration()
criterion = nn.MSELoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
batch = 60

for epoch in range(16):
    perm = torch.randperm(n_samples)
    for i in range(0, n_samples, batch):
        idx = perm[i : i + batch]
        prediction = model(readings[idx])
        loss = criterion(prediction, quantities[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    error = (prediction - quantities[idx]).abs().mean().item()
    print(f"epoch {epoch:2d} loss {loss.item():9.4f} mean error {error:9.4f}")
