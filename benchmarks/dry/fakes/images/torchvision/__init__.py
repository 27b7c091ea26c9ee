"""As much of the image library as the scripts need, with made-up images."""

from __future__ import annotations

from torchvision import datasets, models, ops, transforms, utils
from torchvision import ops as io

__all__ = ["datasets", "io", "models", "ops", "transforms", "utils"]
__version__ = "0.28.0"
