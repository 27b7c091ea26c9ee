"""A convolution whose kernels have their axes in another order, unseen because they are of equal size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, permutations

import torch
from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import CONVOLUTIONS, TRANSPOSED_CONVOLUTIONS, argument, changed
from sleuth.compare.reference import Call

OPS = CONVOLUTIONS | TRANSPOSED_CONVOLUTIONS
_MOST = 30
_NAMES = {3: ("length",), 4: ("height", "width"), 5: ("depth", "height", "width")}


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    weight: Tensor = call.arguments["weight"]
    seen = [weight]
    for says, fix, change in islice(_ways(call, weight), _MOST):
        other = change(weight)
        if not any(torch.equal(other, one) for one in seen):
            seen.append(other)
            yield Proposal(says, fix, changed("weight", change))


def _ways(call: Call, weight: Tensor) -> Iterator[tuple[str, str, Callable[[Tensor], Tensor]]]:
    fix = "give the kernels their axes in the order that the layer wants: permute them, never reshape"
    names = ("output channels", "input channels", *_NAMES[weight.ndim])
    if call.op in TRANSPOSED_CONVOLUTIONS:
        names = ("input channels", "output channels", *names[2:])
    for order in permutations(range(weight.ndim)):
        moved = [axis for axis, source in enumerate(order) if axis != source]
        if not moved or tuple(weight.shape[axis] for axis in order) != tuple(weight.shape):
            continue
        if argument(call, "groups") != 1 and set(moved) & {0, 1}:
            continue
        if len(moved) == 2:
            yield f"the {names[moved[0]]} and the {names[moved[1]]} of its kernels are swapped", fix, _permuted(order)
        else:
            yield f"the axes of its kernels are in another order, {order} of the reference's", fix, _permuted(order)
    for order, layout in _layouts(weight.ndim):
        yield f"its kernels were reshaped from ({layout}) where they should be permuted", fix, _reshaped(order)


def _layouts(ndim: int) -> list[tuple[tuple[int, ...], str]]:
    """How other frameworks keep kernels, as orders of PyTorch's axes."""
    space = tuple(range(2, ndim))
    shown = ", ".join(_NAMES[ndim])
    return [
        ((*space, 1, 0), f"{shown}, in, out"),
        ((0, *space, 1), f"out, {shown}, in"),
        ((*space, 0, 1), f"{shown}, out, in"),
        ((1, 0, *space), f"in, out, {shown}"),
    ]


def _permuted(order: tuple[int, ...]) -> Callable[[Tensor], Tensor]:
    return lambda weight: weight.permute(order)


def _reshaped(order: tuple[int, ...]) -> Callable[[Tensor], Tensor]:
    return lambda weight: weight.permute(order).reshape(weight.shape)
