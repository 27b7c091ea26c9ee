import torch
import torch.nn as nn
import torch.nn.functional as F


class PointNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.local1 = nn.Linear(3, 32)
        self.local2 = nn.Linear(32, 16)
        self.fc1 = nn.Linear(16, 32)
        self.fc2 = nn.Linear(32, classes)

    def forward(self, points):
        h = F.relu(self.local1(points))
        h = self.local2(h)
        pooled = h.amax(dim=1)
        return self.fc2(F.relu(self.fc1(pooled)))


def sample_clouds(n, points=24):
    """Spheres, cubes and discs of random size, turned at random."""
    kind = torch.randint(0, 3, (n,))
    sphere = F.normalize(torch.randn(n, points, 3), dim=2)
    cube = 2 * torch.rand(n, points, 3) - 1
    cube = cube / cube.abs().amax(dim=2, keepdim=True)
    disc = sphere * torch.tensor([1.0, 1.0, 0.0])
    shape = torch.stack([sphere, cube * 0.75, disc])[kind, torch.arange(n)]
    turn = torch.linalg.qr(torch.randn(n, 3, 3))[0]
    return shape @ turn * (0.9 + 0.2 * torch.rand(n, 1, 1)), kind


torch.manual_seed(2)
clouds, kinds = sample_clouds(1200)
net = PointNet()
opt = torch.optim.Adam(net.parameters(), lr=0.004)
step = 0
for epoch in range(16):
    for batch in torch.randperm(len(clouds)).split(60):
        loss = F.cross_entropy(net(clouds[batch]), kinds[batch])
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        if step % 20 == 0:
            print(f"step {step:3d} loss {loss.item():.4f}")
