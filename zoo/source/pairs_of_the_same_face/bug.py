import torch
import torch.nn as nn


class FaceNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(32))

    def forward(self, a, b):
        return self.features(a), self.features(b)


def contrastive(first, second, same, margin=1.0):
    gap = first - second
    distance = torch.sum(gap * gap, dim=1) ** 0.5
    apart = torch.relu(margin - distance)
    return (same * distance.square() + (1 - same) * apart.square()).mean()


net = FaceNet()
optimizer = torch.optim.Adam(net.parameters())
for _ in range(10):
    a, b = torch.rand(8, 3, 32, 32), torch.rand(8, 3, 32, 32)
    loss = contrastive(*net(a, b), torch.randint(0, 2, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
