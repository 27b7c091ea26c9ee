import numpy as np
import torch
from torch import nn


def rosenbrock_net():
    return nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))


def smooth(values, width=3):
    return np.convolve(values, np.ones(width) / width, mode="valid")


torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
net = rosenbrock_net().to(device)
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)
history = []
for step in range(6):
    points = torch.rand(64, 2, device=device) * 2 - 1
    heights = (1 - points[:, :1]) ** 2 + (points[:, 1:] - points[:, :1] ** 2) ** 2

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(points), heights)
        loss.backward()
        return loss

    optimizer.step(closure)
    history.append(nn.functional.mse_loss(net(points), heights))

curve = torch.stack(history).detach().cpu().numpy()
print(smooth(curve))
