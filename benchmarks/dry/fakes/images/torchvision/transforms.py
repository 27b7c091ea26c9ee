"""Transformations of images that are tensors from the start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch


class Compose:
    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, image: Any) -> Any:
        for transform in self.transforms:
            image = transform(image)
        return image


class ToTensor:
    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        return image.float()


class Normalize:
    def __init__(self, mean: Any, std: Any, inplace: bool = False) -> None:
        self.mean = torch.as_tensor(mean, dtype=torch.float32).view(-1, 1, 1)
        self.std = torch.as_tensor(std, dtype=torch.float32).view(-1, 1, 1)

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        return (image - self.mean) / self.std


class Resize:
    def __init__(self, size: Any, *_: Any, **__: Any) -> None:
        self.size = (size, size) if isinstance(size, int) else tuple(size)

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.interpolate(image[None], self.size)[0]


CenterCrop = RandomResizedCrop = Resize


class Lambda:
    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __call__(self, image: Any) -> Any:
        return self.function(image)


class RandomHorizontalFlip:
    def __init__(self, *_: Any) -> None:
        pass

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        return image
