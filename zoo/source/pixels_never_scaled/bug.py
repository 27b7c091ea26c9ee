import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def patches(n):
    """Bright or dark in the middle?"""
    labels = torch.randint(0, 2, (n,))
    images = torch.randint(0, 256, (n, 1, 12, 12)).float()
    images[:, :, 4:8, 4:8] = (images[:, :, 4:8, 4:8] + 255.0 * labels.view(-1, 1, 1, 1)) / 2
    images.div(255.0)
    return TensorDataset(images, labels)


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(144, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(patches(2048), batch_size=64, shuffle=True)
    for epoch in range(10):
        for images, labels in loader:
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


if __name__ == "__main__":
    main()
