"""Inputs prepared otherwise: divided by 255 or not, normalised or not, tokens shifted, padding on the other side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import torch
from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import changed
from sleuth.compare.reference import Call

OPS = frozenset({"input", "conv2d"})
_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
_CLIP = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
_CAFFE = ((103.939, 116.779, 123.68), (1.0, 1.0, 1.0))
_HALF = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
_SETS = {
    "ImageNet's mean and deviation": _IMAGENET,
    "CLIP's mean and deviation": _CLIP,
    "Caffe's means": _CAFFE,
    "0.5 and 0.5": _HALF,
}
_FIX = "prepare the input once, as the reference's was: here it should be used as it is"
_COLOURS = 3
# A fit of two numbers a channel must leave nothing but rounding.
_EXACT = 1e-5
Change = Callable[[Tensor], Tensor]


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    if call.op == "conv2d":
        yield from _fitted(call, target)
        return
    value = call.arguments["value"]
    if not isinstance(value, Tensor) or value.ndim == 0:
        return
    ways = _of_numbers(value) if value.is_floating_point() else _of_tokens(value)
    for says, change in ways:
        yield Proposal(says, _FIX, changed("value", change))


def _of_numbers(value: Tensor) -> Iterator[tuple[str, Change]]:
    yield "it divides its input by 255", lambda x: x / 255
    yield "it multiplies its input by 255", lambda x: x * 255
    yield "it divides its input by 256", lambda x: x / 256
    yield "it maps its input from 0…1 to -1…1", lambda x: 2 * x - 1
    yield "it maps its input from -1…1 to 0…1", lambda x: (x + 1) / 2
    yield "it maps its input from 0…255 to -1…1", lambda x: x / 127.5 - 1
    yield "it maps its input from -1…1 to 0…255", lambda x: (x + 1) * 127.5
    yield "it subtracts 1 / 2 from its input", lambda x: x - 0.5
    yield "it cuts the decimals off its input", torch.trunc
    yield "it rounds its input to whole numbers", torch.round
    yield "it clips its input to 0…1", lambda x: x.clamp(0, 1)
    yield "it clips its input to -1…1", lambda x: x.clamp(-1, 1)
    yield "it clips its input to 0…255", lambda x: x.clamp(0, 255)
    yield "it keeps its input in whole bytes (0…255)", lambda x: x.clamp(0, 255).trunc()
    yield "it keeps its input in 256 steps of 0…1", lambda x: (x * 255).round().clamp(0, 255) / 255
    yield "it divides its input by its length", lambda x: torch.nn.functional.normalize(x, dim=-1)
    yield from _of_colours(value)


def _of_colours(value: Tensor) -> Iterator[tuple[str, Change]]:
    for axis in {1, value.ndim - 1} if value.ndim == 4 else ():
        if value.shape[axis] != _COLOURS:
            continue
        for name, (mean, deviation) in _SETS.items():
            m, s = (_along(numbers, axis, value) for numbers in (mean, deviation))
            yield f"it normalises its input by {name}, which the reference does not", lambda x, m=m, s=s: (x - m) / s  # type: ignore[misc]
            yield f"it does not normalise its input by {name}, which the reference does", lambda x, m=m, s=s: x * s + m  # type: ignore[misc]
            if name != "Caffe's means":
                yield (
                    f"it divides its input by 255 and normalises it by {name}, which the reference does not",
                    lambda x, m=m, s=s: (x / 255 - m) / s,  # type: ignore[misc]
                )


def _along(numbers: tuple[float, ...], axis: int, value: Tensor) -> Tensor:
    shape = [1] * value.ndim
    shape[axis] = _COLOURS
    return torch.tensor(numbers, dtype=value.dtype).reshape(shape)


def _of_tokens(value: Tensor) -> Iterator[tuple[str, Change]]:
    if value.dtype == torch.bool:
        yield "it takes its mask the other way round", torch.logical_not
        return
    yield "its whole numbers are 1 higher", lambda x: x + 1
    yield "its whole numbers are 1 lower", lambda x: x - 1
    if bool(((value == 0) | (value == 1)).all()):
        yield "it takes its mask the other way round", lambda x: 1 - x
        yield "it takes its mask to be all ones", torch.ones_like
    if value.ndim == 2 and value.shape[1] > 1:
        yield "its sequences are read from the end", lambda x: x.flip(1)
        yield (
            "its tokens are shifted to the right by one",
            lambda x: torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1),
        )
        yield (
            "its tokens are shifted to the left by one",
            lambda x: torch.cat([x[:, 1:], torch.zeros_like(x[:, :1])], 1),
        )
        yield "its sequences are padded on the other side", _padded_on_the_other_side


def _padded_on_the_other_side(value: Tensor) -> Tensor:
    """Zeros at one end of a row, moved to the other."""
    rows = []
    for row in value:
        held = row.nonzero().flatten()
        low, high = (int(held[0]), int(held[-1]) + 1) if len(held) else (0, len(row))
        rows.append(torch.cat([row[high:], row[low:high], row[:low]]))
    return torch.stack(rows)


def _fitted(call: Call, target: Target) -> Iterator[Proposal]:
    """The first convolution is linear in its input: factor and shift of each channel follow from its values."""
    image, weight = call.arguments["input"], call.arguments["weight"]
    if (
        image.shape[1] > 4
        or image.ndim != 4
        or weight.shape[1] != image.shape[1]
        or call.again().shape != target.value.shape
    ):
        return
    channels = image.shape[1]
    still = call.again(input=torch.zeros_like(image))
    columns = []
    for source in (image, torch.ones_like(image)):
        for one in range(channels):
            alone = torch.zeros_like(image)
            alone[:, one] = source[:, one]
            columns.append((call.again(input=alone) - still).flatten())
    wanted = torch.as_tensor(target.value, dtype=torch.float64).flatten() - still.flatten()
    found = torch.linalg.lstsq(torch.stack(columns, 1), wanted[:, None], driver="gelsd").solution.flatten()
    left = torch.stack(columns, 1) @ found - wanted
    if not bool(found.isfinite().all()) or left.norm() > _EXACT * wanted.norm():
        return
    factor, shift = found[:channels], found[channels:]
    if torch.allclose(factor, torch.ones_like(factor), atol=1e-6) and torch.allclose(
        shift, torch.zeros_like(shift), atol=1e-6
    ):
        return
    f, s = factor.reshape(1, -1, 1, 1), shift.reshape(1, -1, 1, 1)
    shown = ", ".join(f"{float(a):.4g} x {float(b):+.4g}" for a, b in zip(factor, shift, strict=True))
    says = f"it changes the input's channels first: {shown}"
    yield Proposal(says, _FIX, changed("input", lambda x: x * f + s), rank=1)
