"""A U-Net that outlines discs among stripes: BCE with logits plus soft Dice, skip connections, IoU on held-out images."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Discs(Dataset):
    def __init__(self, count, seed, size=24):
        self.count, self.seed, self.size = count, seed, size

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.seed * 100_000 + i)
        yy, xx = torch.meshgrid(torch.arange(self.size), torch.arange(self.size), indexing="ij")
        mask = torch.zeros(self.size, self.size)
        for _ in range(2):
            r, c = torch.randint(4, self.size - 4, (2,), generator=g)
            radius = 2 + 3 * torch.rand(1, generator=g)
            mask[(yy - r) ** 2 + (xx - c) ** 2 <= radius**2] = 1.0
        angle = 6.28 * torch.rand(1, generator=g)
        stripes = torch.sin(1.2 * (yy * angle.cos() + xx * angle.sin()))
        image = 0.8 * mask + 0.4 * stripes + 0.3 * torch.randn(self.size, self.size, generator=g)
        return image.unsqueeze(0), mask.unsqueeze(0)


def double_conv(n_in, n_out):
    return nn.Sequential(
        nn.Conv2d(n_in, n_out, 3, padding=1, bias=False),
        nn.BatchNorm2d(n_out),
        nn.ReLU(inplace=True),
        nn.Conv2d(n_out, n_out, 3, padding=1, bias=False),
        nn.BatchNorm2d(n_out),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, widths=(8, 16, 32)):
        super().__init__()
        a, b, c = widths
        self.down1, self.down2, self.bottom = double_conv(1, a), double_conv(a, b), double_conv(b, c)
        self.up2, self.up1 = nn.ConvTranspose2d(c, b, 2, stride=2), nn.ConvTranspose2d(b, a, 2, stride=2)
        self.dec2, self.dec1 = double_conv(2 * b, b), double_conv(2 * a, a)
        self.head = nn.Conv2d(a, 1, 1)

    def forward(self, x):
        d1 = self.down1(x)
        d2 = self.down2(F.max_pool2d(d1, 2))
        x = self.up2(self.bottom(F.max_pool2d(d2, 2)))
        x = self.up1(self.dec2(torch.cat([d2, x], dim=1)))
        return self.head(self.dec1(torch.cat([d1, x], dim=1)))


def dice_loss(logits, target, eps=1.0):
    p = logits.sigmoid().flatten(1)
    t = target.flatten(1)
    return (1 - (2 * (p * t).sum(1) + eps) / (p.sum(1) + t.sum(1) + eps)).mean()


@torch.inference_mode()
def evaluate(net, loader):
    net.eval()
    inter = union = 0
    for image, mask in loader:
        guess, true = net(image) > 0, mask > 0.5
        inter += (guess & true).sum().item()
        union += (guess | true).sum().item()
    net.train()
    return inter / union


if __name__ == "__main__":
    torch.manual_seed(0)
    train = DataLoader(Discs(320, 1), batch_size=8, shuffle=True, drop_last=True)
    held = DataLoader(Discs(64, 2), batch_size=32)
    net = UNet()
    optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-8)
    for epoch in range(4):
        total = 0.0
        for image, mask in train:
            logits = net(image)
            loss = F.binary_cross_entropy_with_logits(logits, mask) + dice_loss(logits, mask)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(train):.4f} held-out IoU {evaluate(net, held):.3f}")
