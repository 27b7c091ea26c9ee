"""The picture is what is optimised: a fixed random network in eval() supplies content and style losses, pixels are clamped."""

import torch
import torch.nn.functional as F
from torch import nn


def gram(features):
    n, c, h, w = features.shape
    flat = features.view(n, c, h * w)
    return flat @ flat.transpose(1, 2) / (c * h * w)


class Features(nn.Module):
    """What each convolution says about the picture."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList(
            [nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 24, 3, padding=1), nn.Conv2d(24, 32, 3, padding=1)]
        )

    def forward(self, x):
        x, seen = (x - 0.5) / 0.25, []
        for conv in self.convs:
            x = F.relu(conv(x))
            seen.append(x)
            x = F.avg_pool2d(x, 2)
        return seen


def pictures(size=32):
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
    disc = (yy**2 + xx**2 < 0.4).float()
    content = torch.stack([0.3 + 0.5 * disc, 0.4 * torch.ones_like(disc), 0.7 - 0.4 * disc])
    stripes = 0.5 + 0.5 * torch.sin(12 * (xx + yy))
    style = torch.stack([stripes, 0.8 * stripes, 1 - stripes])
    return content.unsqueeze(0), style.unsqueeze(0)


def main():
    torch.manual_seed(0)
    network = Features().eval()
    for p in network.parameters():
        p.requires_grad_(False)
    content, style = pictures()
    want_content = network(content)[-1].detach()
    want_style = [gram(f).detach() for f in network(style)]

    picture = content.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([picture], lr=0.02)
    for step in range(301):
        optimizer.zero_grad()
        seen = network(picture)
        content_loss = F.mse_loss(seen[-1], want_content)
        style_loss = sum(F.mse_loss(gram(f), target) for f, target in zip(seen, want_style))
        loss = content_loss + 3e3 * style_loss
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            picture.clamp_(0, 1)
        if step % 50 == 0:
            print(
                f"step {step:3d} content {content_loss.item():.5f} style {style_loss.item():.7f} sum {loss.item():.4f}"
            )
    print(f"pixels moved by {(picture.detach() - content).abs().mean():.4f} on average")


if __name__ == "__main__":
    main()
