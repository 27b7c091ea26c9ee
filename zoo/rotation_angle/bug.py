import torch
from torch import nn


def rotation_matrix(v):
    """Gram-Schmidt on six numbers."""
    a, b = v[:, :3], v[:, 3:]
    x = a / a.norm(dim=1, keepdim=True)
    y = b - (x * b).sum(1, keepdim=True) * x
    y = y / y.norm(dim=1, keepdim=True)
    return torch.stack([x, y, torch.linalg.cross(x, y, dim=1)], dim=1)


def geodesic(r1, r2):
    trace = (r1 * r2).sum(dim=(1, 2))
    return torch.acos((trace - 1) / 2)


class PoseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        with torch.no_grad():
            self.fc.weight.copy_(torch.eye(6) + 0.3 * torch.randn(6, 6))

    def forward(self, x):
        return rotation_matrix(self.fc(x))


def main(epochs=40, batch=64):
    torch.manual_seed(0)
    poses = torch.randn(256, 6)
    targets = rotation_matrix(poses).mul(1000).round() / 1000  # the file keeps three decimals
    net = PoseNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(epochs):
        for k in torch.randperm(256).split(batch):
            loss = geodesic(net(poses[k]), targets[k]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 4 == 0:
            print(f"epoch {epoch}: mean angle {loss.item():.5f} rad")


if __name__ == "__main__":
    main()
