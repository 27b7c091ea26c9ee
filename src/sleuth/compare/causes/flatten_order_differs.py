"""Several axes made one in another order: an image flattened channels last, for a layer trained channels first."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import changed
from sleuth.compare.causes._calls import subject
from sleuth.compare.reference import Call

_FLATTENED = frozenset({"flatten", "view", "reshape", "_unsafe_view"})
OPS = _FLATTENED | {"linear"}
_MOST_AXES = 4
_NAMES = {
    (0, 1, 2): "channels, height, width",
    (1, 2, 0): "height, width, channels",
    (0, 2, 1): "channels, width, height",
}


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    return _of_columns(call) if call.op == "linear" else _of_values(call)


def _of_columns(call: Call) -> Iterator[Proposal]:
    """The values are in the reference's order, the weight behind them is for the other one."""
    weight = call.arguments["weight"]
    count = weight.shape[1]
    for outer in range(2, count // 2 + 1):
        if count % outer == 0:
            shape = outer, count // outer
            yield Proposal(
                f"the columns of its weight are for {outer} channels behind {count // outer} places, not before them",
                "reorder the weight's columns, or bring the axes into the order that it was made for before flattening",
                changed("weight", lambda own, shape=shape: own.unflatten(1, shape).transpose(1, 2).flatten(1)),  # type: ignore[misc]
            )


def _of_values(call: Call) -> Iterator[Proposal]:
    tensor, result = subject(call), call.again()
    if tensor is None or not isinstance(result, Tensor):
        return
    first, last = _merged(tuple(tensor.shape), tuple(result.shape))
    count = last - first
    if not 2 <= count <= _MOST_AXES or sum(n > 1 for n in tensor.shape[first:last]) < 2:
        return
    if call.op != "flatten" and first > 1:  # heads that are joined again
        return
    for order in itertools.permutations(range(count)):
        axes = [*range(first), *(first + one for one in order), *range(last, tensor.ndim)]
        if order != tuple(range(count)):
            shape = tuple(tensor.shape[axis] for axis in axes[first:last])
            yield Proposal(
                f"it is flattened in the order {_word(order, first)} ({' x '.join(map(str, shape))})",
                "bring the axes into the reference's order before flattening, or reorder the next weight's columns",
                lambda call, axes=axes: subject(call).permute(axes).reshape(call.again().shape),  # type: ignore[misc, union-attr]
            )


def _merged(before: tuple[int, ...], after: tuple[int, ...]) -> tuple[int, int]:
    """The run of axes that became one; nothing where the shapes differ otherwise."""
    first = 0
    while first < min(len(before), len(after)) and before[first] == after[first]:
        first += 1
    behind = len(after) - first - 1
    return (
        (first, len(before) - behind)
        if behind >= 0 and before[len(before) - behind :] == after[first + 1 :]
        else (0, 0)
    )


def _word(order: tuple[int, ...], first: int) -> str:
    if first == 1 and order in _NAMES:
        return f"{_NAMES[order]}, not {_NAMES[0, 1, 2]}"
    own = ", ".join(str(first + one) for one in range(len(order)))
    return f"of the axes {', '.join(str(first + one) for one in order)}, not {own}"
