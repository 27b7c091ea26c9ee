"""Data sets of a pattern for each class under noise, the same image at each look."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
from torch.utils.data import Dataset


class _Patterns(Dataset[Any]):
    shape = (1, 28, 28)
    classes = tuple("0123456789")

    def __init__(
        self,
        root: str = "",
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        download: bool = False,
        **_: Any,
    ) -> None:
        self.transform, self.target_transform = transform, target_transform
        self.count = int(os.environ.get("MADE_UP_IMAGES", "1000")) if train else 200
        random = torch.Generator().manual_seed(int(train))
        self.patterns = _patterns(len(self.classes), self.shape)
        self.targets = torch.randint(0, len(self.classes), (self.count,), generator=random)
        self.data = torch.randint(0, 256, (self.count, *self.shape[1:]), dtype=torch.uint8, generator=random)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if index >= self.count:
            raise IndexError(index)
        label: Any = int(self.targets[index])
        noise = torch.rand(self.shape, generator=torch.Generator().manual_seed(index))
        image: Any = 0.8 * self.patterns[label] + 0.2 * noise * self.patterns[(label + index) % len(self.classes)]
        if self.transform is not None:
            image = self.transform(image)
        return image, label if self.target_transform is None else self.target_transform(label)


def _patterns(count: int, shape: tuple[int, ...]) -> torch.Tensor:
    """For each class a few strokes, bright on black, as wide as those of a digit."""
    coarse = torch.rand((count, shape[0], 7, 7), generator=torch.Generator().manual_seed(2)) > 0.8
    return torch.nn.functional.interpolate(coarse.float(), shape[1:], mode="bilinear")


class MNIST(_Patterns):
    pass


class FashionMNIST(_Patterns):
    pass


class CIFAR10(_Patterns):
    shape = (3, 32, 32)


class FakeData(_Patterns):
    shape = (3, 64, 64)

    def __init__(self, size: int = 1000, image_size: Any = (3, 64, 64), num_classes: int = 10, **options: Any) -> None:
        options.pop("transform", None)
        self.shape, self.classes = tuple(image_size), tuple(str(n) for n in range(num_classes))
        super().__init__()
        self.count = min(size, 1000)


class ImageFolder(FakeData):
    def __init__(self, root: str, transform: Any = None, **_: Any) -> None:
        super().__init__(image_size=(3, 224, 224))
