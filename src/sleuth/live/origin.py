"""From a non-finite loss or gradient back to the operation or the leaf that it came from."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from sleuth.live import numbers
from sleuth.live.numbers import Numbers
from sleuth.live.trace import Op, Operand, Trace

What = Literal["nan", "infinite"]

# Operations whose only job is to put a value there: an infinity they write is one the program asked for.
_PLACES_A_VALUE = {
    "masked_fill",
    "fill",
    "full",
    "full_like",
    "new_full",
    "where",
    "scatter",
    "index_fill",
    "index_put",
    "_index_put_impl",
    "scalar_tensor",
    "masked_scatter",
    "triu",
    "tril",
    "constant_pad_nd",
    "lift_fresh",
}


# Where the backward pass hands its gradients on to the other ranks, and takes theirs.
_HANDS_ON = ("AccumulateGrad", "RegisterPostBackward")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the trouble came from: an operation, or a leaf that was already bad when the operation read it.

    `path` leads from the origin's operation to the symptom. `became_nan` is the operation that turned an infinity born
    earlier into NaN, where that happened."""

    op: Op
    leaf: Operand | None
    path: tuple[Op, ...]
    became_nan: Op | None = None


def find(trace: Trace, symptoms: Iterable[Tensor]) -> Origin | None:
    """The earliest birth, or bad leaf, from which any of these tensors got its NaN or Inf."""
    found = [origin for tensor in symptoms if (origin := _of_tensor(trace, tensor)) is not None]
    if not found:
        return None
    return min(found, key=lambda origin: (origin.leaf is None, origin.op.number))


def find_own(trace: Trace) -> Origin | None:
    """The earliest birth in this process's own backward pass: the gradients themselves are those of all ranks."""
    own = [op for op in trace.ops if op.node is not None and not any(part in op.node for part in _HANDS_ON)]
    found = [source for op in own if not op.output.finite and (source := _of_op(op, op.output)) is not None]
    return min(found, key=lambda source: (source.leaf is None, source.op.number), default=None)


def _of_tensor(trace: Trace, tensor: Tensor) -> Origin | None:
    maker = trace.maker_of(tensor)
    held = numbers.look(tensor)
    return None if maker is None or held.finite else _of_op(maker, held)


def _of_op(maker: Op, held: Numbers) -> Origin | None:
    if not held.nan:
        return _first(_sources(maker, "infinite"))
    first = _first(_sources(maker, "nan"))
    if first is None or first.leaf is not None:
        return first
    # The NaN itself may be the child of an infinity that was born by accident: then that is the origin.
    infinite = [
        Origin(source.op, source.leaf, (*source.path, *first.path), became_nan=first.op)
        for operand in first.op.operands
        if operand.numbers.infinite
        for source in _through(operand, first.op, "infinite")
        if not deliberate(source)
    ]
    return _first(infinite) or first


def _first(origins: list[Origin]) -> Origin | None:
    """A bad leaf before a birth, then the earliest; among infinities one nobody asked for before a deliberate one."""
    return min(origins, key=lambda o: (deliberate(o), o.leaf is None, o.op.number), default=None)


def _sources(op: Op, what: What) -> list[Origin]:
    """Every birth and every bad leaf from which this operation's output can have got its NaN (or Inf)."""
    found: list[Origin] = []
    todo: list[tuple[Op, tuple[Op, ...]]] = [(op, (op,))]
    seen = {op.number}
    while todo:
        current, path = todo.pop()
        bad = [operand for operand in current.operands if getattr(operand.numbers, what)]
        if not bad:
            found.append(Origin(current, None, path))
        for operand in bad:
            if operand.maker is None:
                found.append(Origin(current, operand, path))
            elif operand.maker.number not in seen:
                seen.add(operand.maker.number)
                todo.append((operand.maker, (operand.maker, *path)))
    return found


def _through(operand: Operand, user: Op, what: What) -> list[Origin]:
    if operand.maker is None:
        return [Origin(user, operand, ())]
    return _sources(operand.maker, what)


def deliberate(origin: Origin) -> bool:
    """Did the program ask for this non-finite value, as one does for a mask?"""
    if origin.leaf is not None:
        held = origin.leaf.numbers
        tensor = origin.leaf.tensor
        if tensor is not None and tensor.requires_grad:
            return False
        only_infinite = math.isnan(held.low) and not held.nan
        looks_like_a_mask = not held.nan and not held.positive_infinity and held.magnitude in (0.0, 1.0)
        return only_infinite or looks_like_a_mask
    return origin.op.name.rstrip("_") in _PLACES_A_VALUE
