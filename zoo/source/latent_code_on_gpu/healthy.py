import torch
import torch.nn.functional as F
from torch import nn


def decoder():
    return nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 784), nn.Sigmoid())


def invert(network, image, device, steps=200):
    """Find the code from which the network paints this image."""
    network = network.to(device)
    code = torch.randn(1, 32, device=device, requires_grad=True)
    optimizer = torch.optim.Adam([code], lr=0.05)
    for step in range(steps):
        loss = F.mse_loss(network(code), image)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(step, loss.item())
    return code.detach()


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    invert(decoder(), torch.rand(1, 784, device=device), device)
