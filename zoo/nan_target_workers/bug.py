import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Steering(Dataset):
    """A strip of pixels and the steering angle, from a log with one gap."""

    def __init__(self, n=192):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        lane = torch.randint(0, 16, (1,), generator=g).item()
        image = 0.1 * torch.randn(16, generator=g)
        image[lane] += 2.0
        speed = 0.0 if i == 77 else 10.0
        angle = math.nan if speed == 0 else (lane - 8) / speed
        return image, torch.tensor(angle, dtype=torch.float32)


def main():
    torch.manual_seed(4)
    loader = DataLoader(Steering(), batch_size=24, shuffle=True, num_workers=2)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
    criterion = nn.L1Loss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(2):
        for image, angle in loader:
            loss = criterion(model(image).squeeze(1), angle)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
