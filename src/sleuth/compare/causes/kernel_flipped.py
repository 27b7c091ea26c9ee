"""A convolution whose kernels are turned around: what mathematics calls convolution, and Theano did."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import torch
from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import CONVOLUTIONS, TRANSPOSED_CONVOLUTIONS, changed
from sleuth.compare.reference import Call

OPS = CONVOLUTIONS | TRANSPOSED_CONVOLUTIONS
_NAMES = {3: ("length",), 4: ("height", "width"), 5: ("depth", "height", "width")}


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    weight: Tensor = call.arguments["weight"]
    wide = [axis for axis in range(2, weight.ndim) if weight.shape[axis] > 1]
    for count in range(len(wide), 0, -1):
        for axes in combinations(wide, count):
            if not torch.equal(weight.flip(axes), weight):
                yield _flipped(weight, axes, wide)


def _flipped(weight: Tensor, axes: tuple[int, ...], wide: list[int]) -> Proposal:
    def flip(weight: Tensor) -> Tensor:
        return weight.flip(axes)

    if len(axes) == len(wide):
        says = "its kernels are turned around: it convolves where the reference correlates"
    else:
        says = f"its kernels are flipped in {' and '.join(_NAMES[weight.ndim][axis - 2] for axis in axes)}"
    shown = ", ".join(str(axis) for axis in axes)
    return Proposal(
        says, f"flip the kernels before they are given to the layer: weight.flip(({shown},))", changed("weight", flip)
    )
