"""A one-stage detector on a 4 x 4 grid: objectness, class loss and smooth L1 on boxes, the last two only where things are."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    size: int = 32
    grid: int = 4
    classes: int = 3
    batch: int = 16
    steps: int = 240
    lr: float = 2e-3


def scene(cfg, count):
    """One to three things per image: a bar across, a bar upright, or a square, each in a cell of its own."""
    images = 0.1 * torch.randn(count, 1, cfg.size, cfg.size)
    there = torch.zeros(count, cfg.grid, cfg.grid)
    kind = torch.zeros(count, cfg.grid, cfg.grid, dtype=torch.long)
    boxes = torch.zeros(count, 4, cfg.grid, cfg.grid)
    cell = cfg.size // cfg.grid
    for n in range(count):
        for place in torch.randperm(cfg.grid**2)[: torch.randint(1, 4, (1,)).item()].tolist():
            row, col = divmod(place, cfg.grid)
            what = torch.randint(0, cfg.classes, (1,)).item()
            short, long = torch.randint(2, 4, (1,)).item(), torch.randint(5, 8, (1,)).item()
            h, w = [(short, long), (long, short), (long, long)][what]
            cy = row * cell + torch.randint(2, cell - 2, (1,)).item()
            cx = col * cell + torch.randint(2, cell - 2, (1,)).item()
            images[n, 0, max(0, cy - h // 2) : cy + h - h // 2, max(0, cx - w // 2) : cx + w - w // 2] += 1.0
            there[n, row, col], kind[n, row, col] = 1.0, what
            boxes[n, :, row, col] = torch.tensor([cy / cell - row, cx / cell - col, h / cell, w / cell])
    return images, there, kind, boxes


class Detector(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        layers, width = [], 1
        for out in (12, 24, 32):
            layers += [
                nn.Conv2d(width, out, 3, stride=2, padding=1, bias=False),
                nn.BatchNorm2d(out),
                nn.LeakyReLU(0.1),
            ]
            width = out
        self.body = nn.Sequential(*layers, nn.Conv2d(width, 32, 3, padding=1), nn.LeakyReLU(0.1))
        self.head = nn.Conv2d(32, 1 + cfg.classes + 4, 1)
        self.split = (1, cfg.classes, 4)
        nn.init.constant_(self.head.bias[:1].data, -2.0)  # most cells are empty

    def forward(self, x):
        return self.head(self.body(x)).split(self.split, dim=1)


def loss_of(output, there, kind, boxes):
    score, logits, box = output
    mask = there > 0
    objectness = F.binary_cross_entropy_with_logits(score.squeeze(1), there)
    classes = F.cross_entropy(logits.permute(0, 2, 3, 1)[mask], kind[mask])
    place = F.smooth_l1_loss(box.permute(0, 2, 3, 1)[mask], boxes.permute(0, 2, 3, 1)[mask], beta=0.1)
    return objectness + 0.5 * classes + 2.0 * place, (objectness.item(), classes.item(), place.item())


def main(cfg):
    torch.manual_seed(0)
    model = Detector(cfg)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=1e-3)
    held = scene(cfg, 100)
    for step in range(1, cfg.steps + 1):
        model.train()
        images, *truth = scene(cfg, cfg.batch)
        loss, parts = loss_of(model(images), *truth)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 0:
            model.eval()
            with torch.no_grad():
                score, logits, _ = model(held[0])
            found = ((score.squeeze(1) > 0) == (held[1] > 0)).float().mean()
            right = (logits.argmax(1) == held[2])[held[1] > 0].float().mean()
            print(f"step {step}: object {parts[0]:.3f} class {parts[1]:.3f} box {parts[2]:.3f}", end=" ")
            print(f"cells {found:.3f} kinds {right:.3f}")


if __name__ == "__main__":
    main(Config())
