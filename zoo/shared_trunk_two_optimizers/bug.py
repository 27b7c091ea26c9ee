import itertools

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MultiTask(nn.Module):
    def __init__(self, features=12, width=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(features, width), nn.ReLU(), nn.Linear(width, width), nn.Tanh())
        self.kind_head = nn.Linear(width, 3)
        self.age_head = nn.Linear(width, 1)

    def forward(self, x):
        shared = self.trunk(x)
        return self.kind_head(shared), self.age_head(shared).squeeze(1)


def trees(n):
    x = torch.randn(n, 12)
    kind = torch.stack([x[:, 0] * x[:, 1], x[:, 2], x[:, 3] - x[:, 4]], dim=1).argmax(dim=1)
    age = 2 * torch.tanh(x[:, 5]) + x[:, 6] * x[:, 7]
    return TensorDataset(x, kind, age)


torch.manual_seed(0)
loader = DataLoader(trees(1280), batch_size=64, shuffle=True)
model = MultiTask()
opt_kind = torch.optim.SGD(
    itertools.chain(model.trunk.parameters(), model.kind_head.parameters()), lr=0.08, momentum=0.9
)
opt_age = torch.optim.SGD(itertools.chain(model.trunk.parameters(), model.age_head.parameters()), lr=0.08, momentum=0.9)

for epoch in range(12):
    total = 0.0
    for x, kind, age in loader:
        kind_scores, age_guess = model(x)
        loss = F.cross_entropy(kind_scores, kind) + F.mse_loss(age_guess, age)
        opt_kind.zero_grad()
        opt_age.zero_grad()
        loss.backward()
        opt_kind.step()
        opt_age.step()
        total += loss.item()
    print(f"epoch {epoch} joint loss {total / len(loader):.4f}")
