import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=1)
args = parser.parse_args([])


def pick(number):
    if torch.cuda.device_count() > number:
        return torch.device(f"cuda:{number}")
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Actor(nn.Module):
    def __init__(self, actions=3):
        super().__init__()
        self.body = nn.Linear(8, 20)
        self.head = nn.Linear(20, actions)

    def forward(self, observation):
        return torch.tanh(self.head(torch.relu(self.body(observation))))


torch.manual_seed(0)
device = pick(args.gpu)
actor = Actor().to(device)
optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
for iteration in range(10):
    observation = torch.randn(32, 8).to(device)
    wanted = (torch.rand(32, 3) * 2 - 1).to(device)
    loss = nn.functional.mse_loss(actor(observation), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
