import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Conv2d(1, 8, 3, padding=1)
        self.presence = nn.Conv2d(8, 1, 1)
        self.size = nn.Conv2d(8, 1, 1)

    def forward(self, image):
        features = torch.relu(self.trunk(image))
        return self.presence(features), self.size(features)


def detection_loss(presence, size, target):
    objects = target > 0
    found = nn.functional.binary_cross_entropy_with_logits(presence, objects.float())
    errors = (size[objects] - target[objects]).abs()
    return found + errors.mean() + 0.1 * errors.max()


def scenes(n, device):
    target = torch.where(torch.rand(n, 1, 10, 10) > 0.9, torch.rand(n, 1, 10, 10) + 0.5, torch.zeros(()))
    return (target + 0.05 * torch.randn_like(target)).to(device), target.to(device)


torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
detector = Detector().to(device)
optimizer = torch.optim.Adam(detector.parameters(), lr=2e-3)
for step in range(15):
    image, target = scenes(4, device)
    presence, size = detector(image)
    loss = detection_loss(presence, size, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
