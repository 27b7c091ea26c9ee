"""The shape of an image of a well-known data set, behind its transforms."""

from __future__ import annotations

from typing import Final

from sleuth.source.layer_shapes import numbers, whole
from sleuth.source.values import Value

Image = tuple[int, int, int]
_SETS: Final[dict[str, Image]] = {
    **dict.fromkeys(("MNIST", "FashionMNIST", "KMNIST", "QMNIST", "EMNIST"), (1, 28, 28)),
    **dict.fromkeys(("CIFAR10", "CIFAR100", "SVHN"), (3, 32, 32)),
    "USPS": (1, 16, 16),
    "STL10": (3, 96, 96),
}
_UNCHANGED: Final = frozenset(
    "Normalize RandomHorizontalFlip RandomVerticalFlip ColorJitter RandomErasing ToDtype ToImage AutoAugment "
    "RandAugment TrivialAugmentWide GaussianBlur RandomGrayscale RandomInvert RandomAutocontrast".split()
)


def shape_of(dataset: Value) -> Image | None:
    """Channels, height and width of the tensors a data set of torchvision gives; None where it is none, or unknown."""
    image = _SETS.get(dataset.api.removeprefix("torchvision.datasets."))
    transform = dataset.option("transform")
    if image is None or transform is None or not dataset.api.startswith("torchvision.datasets."):
        return None
    steps = _steps(transform)
    if steps is None or not any(_name(step) in ("ToTensor", "ToImage") for step in steps):
        return None
    for step in steps:
        changed = _behind(step, image)
        if changed is None:
            return None
        image = changed
    return image


def _name(step: Value) -> str:
    return step.api.rpartition(".")[2] if step.api.startswith("torchvision.transforms.") else ""


def _steps(transform: Value) -> list[Value] | None:
    if _name(transform) != "Compose":
        return [transform]
    given = transform.option("0", "transforms")
    return given.parts if given is not None and given.kind == "sequence" and given.exact else None


def _behind(step: Value, image: Image) -> Image | None:
    name = _name(step)
    channels, height, width = image
    if name == "ToTensor" or name in _UNCHANGED:
        return image
    if name in ("Resize", "CenterCrop", "RandomCrop", "RandomResizedCrop"):
        size = numbers(step.option("0", "size"), 2, None)
        # A single number given to Resize is the shorter side: the same for a square image.
        square = height == width or name != "Resize"
        return (channels, size[0], size[1]) if size[0] and size[1] and square else None
    if name == "Pad":
        amount = whole(step.option("0", "padding"))
        return None if amount is None else (channels, height + 2 * amount, width + 2 * amount)
    if name == "Grayscale":
        given = step.option("0", "num_output_channels")
        wanted = 1 if given is None else whole(given)
        return None if wanted is None else (wanted, height, width)
    return None
