import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

STEPS = 5000
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
digits = datasets.MNIST("data", train=True, download=True, transform=transforms.ToTensor())
train_loader = DataLoader(digits, batch_size=64, shuffle=True, num_workers=4)


class Autoencoder(nn.Module):
    def __init__(self, code=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, code))
        self.decoder = nn.Sequential(nn.Linear(code, 256), nn.ReLU(), nn.Linear(256, 784))

    def forward(self, x):
        return self.decoder(self.encoder(x))


def main():
    model = Autoencoder().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(STEPS):
        images, _ = next(iter(train_loader))
        images = images.to(device)
        loss = F.mse_loss(model(images), images.flatten(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 500 == 0:
            print(step, f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
