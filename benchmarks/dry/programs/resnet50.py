"""A network of the size and shape of ResNet-50, trained on synthetic images of 224 x 224, 32 at a time."""

import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--image", type=int, default=224)
parser.add_argument("--width", type=int, default=64)
parser.add_argument("--steps", type=int, default=100)
args = parser.parse_args()


class Bottleneck(nn.Module):
    def __init__(self, given: int, width: int, stride: int) -> None:
        super().__init__()
        made = width * 4
        self.body = nn.Sequential(
            nn.Conv2d(given, width, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, made, 1, bias=False),
            nn.BatchNorm2d(made),
        )
        self.skip = nn.Identity()
        if stride != 1 or given != made:
            self.skip = nn.Sequential(nn.Conv2d(given, made, 1, stride, bias=False), nn.BatchNorm2d(made))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.relu(self.body(x) + self.skip(x))


def network(width: int) -> nn.Module:
    layers: list[nn.Module] = [
        nn.Conv2d(3, width, 7, 2, 3, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
    ]
    given = width
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            layers.append(Bottleneck(given, width << stage, 2 if stage and not block else 1))
            given = (width << stage) * 4
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(given, 1000))


class Images(Dataset):
    def __len__(self) -> int:
        return 10_000

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return torch.randn(3, args.image, args.image), index % 1000


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = network(args.width).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
loader = DataLoader(Images(), batch_size=args.batch_size, shuffle=True, num_workers=4 if device.type == "cuda" else 0)
done = 0
began = time.perf_counter()
for epoch in range(90):
    for images, labels in loader:
        images, labels = images.to(device, non_blocking=True), labels.to(device, non_blocking=True)
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        done += 1
        if done == args.steps:
            print("seconds of the last step:", time.perf_counter() - began)
            raise SystemExit
        began = time.perf_counter()
    print(epoch, loss.item())
