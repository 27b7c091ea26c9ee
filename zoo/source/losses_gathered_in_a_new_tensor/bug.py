import torch
import torch.nn.functional as F
from torch import nn


def crops(image):
    return [image[:, :, :24, :24], image[:, :, 8:, 8:], image[:, :, 4:28, 4:28]]


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(100):
        image, label = torch.rand(16, 3, 32, 32), torch.randint(0, 4, (16,))
        losses = [F.cross_entropy(model(crop), label) for crop in crops(image)]
        loss = torch.tensor(losses, requires_grad=True).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(step, loss.item())


if __name__ == "__main__":
    main()
