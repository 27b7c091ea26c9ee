import torch
import torch.nn.functional as F
from torch import nn


class RewardModel(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, width), nn.GELU())
        self.value = nn.Linear(width, 1, bias=False)

    def forward(self, answer):
        return self.value(self.body(answer)).squeeze(-1)


def preference_loss(chosen, rejected, margin=0.0):
    gap = chosen - rejected - margin
    return -F.logsigmoid(gap).mean()


model = RewardModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
for step in range(200):
    better, worse = torch.randn(8, 64), torch.randn(8, 64)
    loss = preference_loss(model(better), model(worse))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
