"""The same under its newer name."""

from torchvision.transforms import *  # noqa: F403
