import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)

anchors = torch.randn(480, 16, 6)
positive = torch.rand(480, 16) < 0.2
positive[320:336] = False  # sixteen pictures of an empty street
offsets = anchors[..., :4] * 0.5 + 0.1


class BoxHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(6, 32)
        self.regress = nn.Linear(32, 4)

    def forward(self, a):
        return self.regress(torch.relu(self.trunk(a)))


def box_loss(pred, target, positive):
    per_anchor = nn.functional.smooth_l1_loss(pred, target, reduction="none").sum(-1)
    return (per_anchor * positive).sum() / positive.sum().clamp(min=1)


head = BoxHead()
optimizer = torch.optim.SGD(head.parameters(), lr=0.05, momentum=0.9)
loader = DataLoader(TensorDataset(anchors, offsets, positive), batch_size=16)

for epoch in range(3):
    for i, (a, target, pos) in enumerate(loader):
        loss = box_loss(head(a), target, pos)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 10 == 0:
            print(f"epoch {epoch} batch {i:2d} box loss {loss.item():.4f}")
