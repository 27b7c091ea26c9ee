import torch
import torch.nn.functional as F
from torch import nn


class AngularLoss(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.prototypes = nn.Parameter(torch.randn(classes, width))

    def forward(self, embedding, labels):
        chosen = F.normalize(self.prototypes[labels], dim=1)
        cosine = (F.normalize(embedding, dim=1) * chosen).sum(dim=1)
        angle = torch.arccos(torch.clamp(cosine, -1.0, 1.0))
        return angle.mean()


net = nn.Linear(30, 16)
criterion = AngularLoss(16, 10)
optimizer = torch.optim.SGD([*net.parameters(), *criterion.parameters()], lr=0.1)
loss = criterion(net(torch.randn(8, 30)), torch.randint(0, 10, (8,)))
optimizer.zero_grad()
loss.backward()
optimizer.step()
