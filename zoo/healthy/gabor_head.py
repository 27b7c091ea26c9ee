"""Ready-made filters below, a new head on top: nothing is frozen, but the optimiser was only ever given the head."""

import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def gabor_bank(size=7, angles=8):
    """Filters that answer to stripes under each of eight angles, in two phases, as a pretrained first layer would."""
    half = size // 2
    yy, xx = torch.meshgrid(torch.arange(-half, half + 1.0), torch.arange(-half, half + 1.0), indexing="ij")
    bank = []
    for k in range(angles):
        along = xx * math.cos(k * math.pi / angles) + yy * math.sin(k * math.pi / angles)
        window = torch.exp(-(xx**2 + yy**2) / 8)
        bank += [window * torch.cos(1.6 * along), window * torch.sin(1.6 * along)]
    bank = torch.stack(bank)
    return (bank - bank.mean(dim=(1, 2), keepdim=True)).unsqueeze(1) / size


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 7, padding=3)
        self.norm = nn.GroupNorm(1, 16)

    def forward(self, x):
        energy = self.conv(x).square()
        return self.norm(energy).mean(dim=(2, 3))


class Classifier(nn.Module):
    def __init__(self, backbone, classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, classes))

    def forward(self, x):
        return self.head(self.backbone(x))


def grain(count, classes=5):
    """Wood cut under five angles."""
    y = torch.randint(0, classes, (count,))
    angle = y * math.pi / classes + 0.12 * torch.randn(count)
    t = torch.arange(14.0)
    along = t[None, None, :] * angle.cos()[:, None, None] + t[None, :, None] * angle.sin()[:, None, None]
    x = torch.sin(1.6 * along + 6.28 * torch.rand(count, 1, 1)) + 0.8 * torch.randn(count, 14, 14)
    return TensorDataset(x.unsqueeze(1), y)


def main():
    torch.manual_seed(0)
    backbone = Backbone()
    state = backbone.state_dict()
    state["conv.weight"], state["conv.bias"] = gabor_bank(), torch.zeros(16)
    backbone.load_state_dict(state)
    model = Classifier(backbone, 5)
    optimizer = torch.optim.Adam(model.head.parameters(), lr=5e-3)
    loader = DataLoader(grain(1200), batch_size=40, shuffle=True)
    held_x, held_y = grain(400).tensors
    before = backbone.conv.weight.detach().clone()
    for epoch in range(6):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        with torch.no_grad():
            right = (model(held_x).argmax(1) == held_y).float().mean().item()
        print(f"epoch {epoch}: loss {total / len(loader):.4f} held {right:.3f}")
    print("filters as they were:", torch.equal(before, backbone.conv.weight))


if __name__ == "__main__":
    main()
