import os

import torch
from torch.utils.data import DataLoader
from torchvision import datasets
from torchvision.transforms import v2

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def loaders(root, batch_size=32):
    prepare = v2.Compose(
        [
            v2.Resize(256),
            v2.RandomResizedCrop(224),
            v2.RandomHorizontalFlip(),
            v2.ColorJitter(brightness=0.2),
            v2.ToImage(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(MEAN, STD),
        ]
    )
    steady = v2.Compose(
        [
            v2.Resize(256),
            v2.CenterCrop(224),
            v2.ToImage(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(MEAN, STD),
        ]
    )
    train = datasets.ImageFolder(os.path.join(root, "train"), prepare)
    val = datasets.ImageFolder(os.path.join(root, "val"), steady)
    print(f"{len(train)} images to learn from, {len(val)} to test with")
    return (
        DataLoader(train, batch_size, shuffle=True, num_workers=4),
        DataLoader(val, batch_size, num_workers=4),
    )
