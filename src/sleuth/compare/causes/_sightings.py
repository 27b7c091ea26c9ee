"""Where a value of the reference and one of the target can be seen side by side: the result, or what goes in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from sleuth.compare.causes import Target
from sleuth.compare.causes._arguments import changed, followed_by, is_floating
from sleuth.compare.reference import Call, Override
from sleuth.compare.values import Array

_MOST_STRAYS = 12


@dataclass(frozen=True, slots=True)
class Sighting:
    """`made(change)` is the operation with this value changed; `whose` tells which value it is."""

    own: Tensor
    other: Array
    made: Callable[[Callable[[Tensor], Tensor]], Override]
    whose: str


def sightings(call: Call, target: Target) -> Iterator[Sighting]:
    if gives_one_tensor(call):
        result = call.again()
        if is_floating(result) and tuple(result.shape) == target.value.shape:
            yield Sighting(result, target.value, followed_by, "its values are")
    if call.op == "input":
        return
    for name, operand in call.arguments.items():
        if is_floating(operand) and operand.ndim:
            alike = [one for one in target.strays if one.shape == tuple(operand.shape)]
            for stray in alike[:_MOST_STRAYS]:
                yield Sighting(operand, stray, _changing(name), f"its {_WORDS.get(name, 'input')} is")


_WORDS = {"weight": "weight", "bias": "bias"}


def _changing(name: str) -> Callable[[Callable[[Tensor], Tensor]], Override]:
    return lambda change: changed(name, change)


def gives_one_tensor(call: Call) -> bool:
    if not isinstance(call.target, torch._ops.OpOverload):
        return True
    returns = call.target._schema.returns
    return len(returns) == 1 and str(returns[0].type) == "Tensor"
