"""Functions that others name when they are imported, and that nobody calls."""

from torchvision.ops import __getattr__ as __getattr__
