import torch
from torch import nn

torch.manual_seed(10)
catalogue = torch.rand(60, 4)  # four attributes per item
weight = nn.Parameter(torch.full((4,), 2.0))  # how much each attribute tells two items apart
optimizer = torch.optim.Adam([weight], lr=5e-3)


def kernel(items):
    features = items * weight
    gap = (features[:, None] - features[None]).pow(2).sum(-1)
    return torch.exp(-gap)


def diversity(items):
    return torch.logdet(kernel(items) + 1e-3 * torch.eye(len(items)))


for step in range(40):
    viewed = catalogue[step : step + 1]
    offered = catalogue[torch.randperm(60)[:3]]
    loss = -diversity(torch.cat([viewed, offered]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 2 == 0:
        print(f"visitor {step}: log det {-loss.item():.4f}")
