import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

GLASS_TYPES = 6


def read_table(rows=900):
    """Nine standardised measurements and, in the last column, the type of the glass, 1 to 6."""
    g = torch.Generator().manual_seed(0)
    kind = torch.randint(1, GLASS_TYPES + 1, (rows, 1), generator=g)
    centres = 1.5 * torch.randn(GLASS_TYPES + 1, 9, generator=g)
    values = centres[kind.squeeze(1)] + torch.randn(rows, 9, generator=g)
    return torch.cat([values, kind], dim=1)


table = read_table()
features, target = table[:, :-1], table[:, -1].long()
loader = DataLoader(TensorDataset(features, target), batch_size=30, shuffle=True)

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.BatchNorm1d(32), nn.Linear(32, GLASS_TYPES))
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)

for epoch in range(6):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
