"""Data sets of noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils.data import Dataset


class _Noise(Dataset[Any]):
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
        self.count = 1000 if train else 200
        random = torch.Generator().manual_seed(int(train))
        self.targets = torch.randint(0, len(self.classes), (self.count,), generator=random)
        self.data = torch.randint(0, 256, (self.count, *self.shape[1:]), dtype=torch.uint8)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if index >= self.count:
            raise IndexError(index)
        image: Any = torch.rand(self.shape)
        label: Any = int(self.targets[index])
        if self.transform is not None:
            image = self.transform(image)
        return image, label if self.target_transform is None else self.target_transform(label)


class MNIST(_Noise):
    pass


class FashionMNIST(_Noise):
    pass


class CIFAR10(_Noise):
    shape = (3, 32, 32)


class FakeData(_Noise):
    shape = (3, 64, 64)

    def __init__(self, size: int = 1000, image_size: Any = (3, 64, 64), num_classes: int = 10, **options: Any) -> None:
        options.pop("transform", None)
        self.shape, self.classes = tuple(image_size), tuple(str(n) for n in range(num_classes))
        super().__init__()
        self.count = min(size, 1000)


class ImageFolder(FakeData):
    def __init__(self, root: str, transform: Any = None, **_: Any) -> None:
        super().__init__(image_size=(3, 224, 224))
