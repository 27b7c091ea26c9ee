"""What a module may take, guessed from its first layers; a guess counts only once the module has run on it."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from sleuth.compare.inputs.consumers import consumers, has_word, leaves
from sleuth.compare.sides.torch_call import required_by
from sleuth.compare.values import Array

ROWS = 2
# Of an image's side, a sequence's length: what models are most often made for, the cheap ones first.
SIDES = (32, 28, 64, 224, 16, 96, 128, 256, 48, 112, 299, 227, 384, 512, 8)
LENGTHS = (16, 8, 64, 32, 128, 256, 512, 1024, 4, 100, 1000, 4096, 16000)
_MOST_GUESSES = 400


@dataclass(frozen=True, slots=True)
class Guess:
    """One argument: all `fill`, or floats drawn where that is None. Ids are 0, a row that every table has."""

    shape: tuple[int, ...]
    dtype: torch.dtype = torch.float32
    fill: int | None = None

    def tensor(self) -> Tensor:
        if not self.dtype.is_floating_point or self.fill is not None:
            return torch.full(self.shape, self.fill or 0, dtype=self.dtype)
        return torch.randn(self.shape, generator=torch.Generator().manual_seed(0), dtype=self.dtype)


def guesses(model: nn.Module) -> Iterator[tuple[Guess, ...]]:
    """For all required arguments together, the likeliest first."""
    required = required_by(model)
    if not required:
        required = ["x"]
    taken = consumers(model)
    spare = [one for one in leaves(model) if has_word(one)]
    choices = [_choices(model, name, taken.get(name) or [], spare, len(required) > 1) for name in required]
    together = itertools.product(*choices) if len(choices) > 1 else ((one,) for one in choices[0])
    yield from itertools.islice(_alike_first(together), _MOST_GUESSES)


def _alike_first(together: Iterator[tuple[Guess, ...]]) -> Iterator[tuple[Guess, ...]]:
    """Sequences that go together are most often of one length."""
    some = list(itertools.islice(together, 20 * _MOST_GUESSES))
    return iter(sorted(some, key=lambda one: max(1, len({guess.shape[1] for guess in one if len(guess.shape) > 1}))))


def _choices(
    model: nn.Module, name: str, layers: Sequence[nn.Module], spare: Sequence[nn.Module], several: bool
) -> list[Guess]:
    by_name = _by_name(name)
    if layers or by_name:
        return _distinct([*(guess for layer in layers[:2] for guess in of_layer(layer, model)), *by_name])
    first = [guess for layer in spare[:3] for guess in of_layer(layer, model)]
    return _distinct([*first[: 12 if several else None], *_of_parameters(model)]) or [
        Guess((ROWS, 16)),
        Guess((ROWS, 3, 32, 32)),
    ]


def _distinct(found: Any) -> list[Guess]:
    return list(dict.fromkeys(found))


def _by_name(name: str) -> list[Guess]:
    """For what no layer takes: masks, lengths, the time of a diffusion model."""
    word = name.lower()
    if "mask" in word:
        shapes = [(ROWS, 16), (16, 16), (ROWS, 1, 1, 16), (ROWS, 8), (8, 8)]
        kinds = ((torch.bool, 1), (torch.int64, 1), (torch.bool, 0), (torch.float32, 0))  # 1 may mean "leave out"
        return [Guess(shape, dtype, fill) for dtype, fill in kinds for shape in shapes]
    if "length" in word or word in ("lens", "seq_len", "seqlens"):
        return [Guess((ROWS,), torch.int64, length) for length in (16, 8)]
    if word in ("t", "time", "timestep", "timesteps", "step", "steps", "sigma", "noise_level"):
        return [Guess((ROWS,)), Guess((ROWS,), torch.int64, 1), Guess((ROWS, 1))]
    return []


def guesses_from_weights(weights: Mapping[str, Array]) -> Iterator[Guess]:
    """For a model whose layers cannot be asked: by the shape of its first weights."""
    for array in itertools.islice((one for one in weights.values() if one.ndim > 1), 3):
        if array.ndim > 2:
            yield from _of_channels(array.shape[1], array.ndim - 2)
        else:
            yield from _of_features(array.shape[1], False)
            yield from (Guess((ROWS, length), torch.int64) for length in LENGTHS[:7])
            yield from _flattened(array.shape[1])


def of_layer(layer: nn.Module, model: nn.Module) -> Iterator[Guess]:
    """What this layer takes, by its own attributes."""
    if isinstance(layer, nn.modules.conv._ConvNd):
        yield from _of_channels(layer.in_channels, len(layer.kernel_size))
    elif isinstance(layer, nn.modules.batchnorm._BatchNorm | nn.GroupNorm):
        channels = layer.num_channels if isinstance(layer, nn.GroupNorm) else layer.num_features
        ranks = {"BatchNorm1d": (0, 1), "BatchNorm2d": (2,), "BatchNorm3d": (3,)}.get(type(layer).__name__, (2, 1, 0))
        for rank in ranks:
            yield from _of_channels(channels, rank)
    elif isinstance(layer, nn.Embedding | nn.EmbeddingBag):
        for shape in (*((ROWS, length) for length in LENGTHS[:7]), (ROWS,), (ROWS, 1), (ROWS, 2)):
            yield Guess(shape, torch.int64)
    elif isinstance(layer, nn.RNNBase | nn.RNNCellBase):
        yield from _of_features(layer.input_size, True)
    elif isinstance(layer, nn.LayerNorm):
        yield from _of_features(layer.normalized_shape, True)
    elif isinstance(layer, nn.Linear | nn.Bilinear):
        features = layer.in_features if isinstance(layer, nn.Linear) else layer.in1_features
        yield from _of_features(features, _is_sequential(model))
        if features == 1:  # a number for each row, as a time is
            yield Guess((ROWS,))
        yield from _flattened(features)
    else:
        width = getattr(layer, "embed_dim", None) or getattr(layer, "d_model", None) or _width(layer)
        if width:
            yield from _of_features(width, True)


def _of_channels(channels: int, axes: int) -> Iterator[Guess]:
    if axes == 0:
        yield Guess((ROWS, channels))
    for size in LENGTHS if axes == 1 else SIDES if axes == 2 else (16, 32, 8, 64) if axes == 3 else ():
        yield Guess((ROWS, channels, *([size] * axes)))


def _of_features(features: int | tuple[int, ...], sequences: bool) -> Iterator[Guess]:
    """A sequence of them and one of them; which of the two comes first is for the caller to say."""
    last = (features,) if isinstance(features, int) else tuple(features)
    many = [Guess((ROWS, length, *last)) for length in LENGTHS[:6]]
    yield from [*many, Guess((ROWS, *last))] if sequences else [Guess((ROWS, *last)), *many]


def _flattened(features: int) -> Iterator[Guess]:
    """The image that `flatten` makes so many features of."""
    for channels in (1, 3, 2, 4):
        side = math.isqrt(features // channels)
        if side > 1 and channels * side * side == features:
            yield Guess((ROWS, channels, side, side))
            if channels == 1:
                yield Guess((ROWS, side, side))


def _is_sequential(model: nn.Module) -> bool:
    kinds = nn.RNNBase | nn.MultiheadAttention | nn.TransformerEncoderLayer | nn.TransformerDecoderLayer
    return any(isinstance(module, kinds) or "attention" in type(module).__name__.lower() for module in model.modules())


def _width(layer: nn.Module) -> int:
    inner = next((one for one in layer.modules() if isinstance(one, nn.MultiheadAttention)), None)
    return inner.embed_dim if inner is not None else 0


def _of_parameters(model: nn.Module) -> Iterator[Guess]:
    """For a module that multiplies by a parameter of its own."""
    for parameter in itertools.islice(model.parameters(), 4):
        if parameter.ndim >= 1:
            for features in (parameter.shape[-1], parameter.shape[0]):
                yield Guess((ROWS, features))
                yield Guess((ROWS, 16, features))


# PyTorch's words where a `flatten` does not fit the layer after it, and where patches do not fit their positions.
_MISFITS = (
    re.compile(r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)"),
    re.compile(r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\)"),
)


def nearer(guess: Guess, message: str) -> list[Guess]:
    """The sizes at which it would fit, from the numbers in the error: they grow with the image."""
    misfit = next(filter(None, (one.search(message) for one in _MISFITS)), None)
    axes = len(guess.shape) - 2
    if misfit is None or axes < 1 or not int(misfit[1]):
        return []
    size = guess.shape[-1] * (int(misfit[2]) / int(misfit[1])) ** (1 / axes)
    near = sorted((round(size) + step for step in range(-2, 5)), key=lambda one: abs(one - size))
    return [Guess((*guess.shape[:2], *([one] * axes))) for one in near if one > 0]
