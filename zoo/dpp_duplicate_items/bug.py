import torch
from torch import nn

torch.manual_seed(10)
catalogue = torch.randint(0, 3, (60, 4)).float()  # four coarse attributes per item
quality = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(quality.parameters(), lr=5e-3)


def kernel(items):
    features = torch.cat([quality(items), items], dim=1)
    gap = (features[:, None] - features[None]).pow(2).sum(-1)
    return torch.exp(-gap)


def diversity(items):
    return torch.logdet(kernel(items))


for step in range(40):
    basket = catalogue[torch.randperm(60)[:4]]
    loss = -diversity(basket)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 2 == 0:
        print(f"basket {step}: log det {-loss.item():.4f}")
