import torch

from .data import batches
from .loss import mixture_nll
from .model import MixtureNet


def train(steps=80, lr=2e-2):
    torch.manual_seed(11)
    net = MixtureNet(components=5)
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    for step, (x, y) in enumerate(batches(steps)):
        weight, mean, scale = net(x)
        loss = mixture_nll(weight, mean, scale, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:3d}: nll {loss.item():.4f}")
    return net


if __name__ == "__main__":
    train()
