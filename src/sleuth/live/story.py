"""The chain of a finding: where the dangerous value came from, what it did, how it reached the loss or the gradient."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

from sleuth.findings import Evidence, Link
from sleuth.live.births import Verdict, operation_name
from sleuth.live.history import History
from sleuth.live.naming import variable_name
from sleuth.live.numbers import said, span
from sleuth.live.origin import Origin
from sleuth.live.trace import Op, Operand, lineage

# How far up the story follows a value: far enough to meet the layer that made it, short enough to be read.
ANCESTORS = 3
_PASSES_ON = {"_to_copy", "clone", "copy_", "contiguous", "detach", "_unsafe_view", "cat", "stack", "index", "gather"}


def chain(origin: Origin, verdict: Verdict | None, history: History, symptom: Link) -> tuple[Link, ...]:
    links = [*_before(origin, verdict), *(verdict.origin if verdict else ()), *_birth(origin)]
    if origin.became_nan is not None and origin.became_nan is not origin.op:
        links.append(Link(f"{operation_name(origin.became_nan)} turned the infinity into NaN", origin.became_nan.place))
    links.append(symptom)
    growth = _growth(history)
    if growth is not None:
        links.append(growth)
    return tuple(_without_repeats(links))


def watched(op: Op) -> Op:
    """The operation whose inputs the story tells of: for a part of the backward pass, the forward operation."""
    while op.in_backward and op.code is None and op.forward is not None:
        op = op.forward
    return op


def culprit_operand(origin: Origin, verdict: Verdict | None) -> Operand | None:
    operands = watched(origin.op).operands
    index = verdict.culprit if verdict is not None else 0
    return operands[index] if index < len(operands) else (operands[0] if operands else None)


def _before(origin: Origin, verdict: Verdict | None) -> Iterator[Link]:
    """The makers of the operand that was dangerous, the oldest first."""
    operand = culprit_operand(origin, verdict)
    if origin.leaf is not None or operand is None:
        return
    if operand.maker is None:
        name = variable_name(operand.tensor) if operand.tensor is not None else None
        if name is not None and not math.isnan(operand.numbers.low):
            yield Link(f"{name} holds {span(operand.numbers)}", watched(origin.op).place)
        return
    makers = list(_makers(operand.maker))
    for maker in reversed(makers):
        yield Link(_told(maker), maker.place)


def _makers(op: Op) -> Iterator[Op]:
    return islice((maker for maker in lineage(op) if maker.name not in _PASSES_ON), ANCESTORS)


def _told(op: Op) -> str:
    sentence = f"{operation_name(op)} gave {span(op.output)}"
    read = [operand for operand in op.operands if not math.isnan(operand.numbers.low)]
    return f"{sentence} from {span(read[0].numbers)}" if len(read) == 1 else sentence


def _birth(origin: Origin) -> Iterator[Link]:
    if origin.leaf is None:
        op = origin.op
        yield Link(f"{_pass(op)}{operation_name(op)} gave {became(op)}", op.place)


def _pass(op: Op) -> str:
    return "the derivative of " if op.in_backward and op.code is None else ""


def became(op: Op) -> str:
    """`-inf in 3 of 640 values`."""
    held = op.output
    kinds = [
        (word, n)
        for word, n in (("nan", held.nan), ("inf", held.positive_infinity), ("-inf", held.negative_infinity))
        if n
    ]
    if held.count == 1:
        return kinds[0][0] if kinds else "a non-finite value"
    return " and ".join(f"{word} in {n:,} of {held.count:,} values" for word, n in kinds)


def _growth(history: History) -> Link | None:
    losses = history.last_losses()
    norms = history.last_gradient_norms()
    told = []
    if len(losses) > 1:
        told.append(f"loss {' → '.join(said(value) for value in losses)}")
    if len(norms) > 1:
        told.append(f"gradient norm {' → '.join(said(value) for value in norms)}")
    return Link(f"the last steps before it: {'; '.join(told)}") if told else None


def history_evidence(history: History) -> Iterator[Evidence]:
    if history.losses:
        yield Evidence("last losses", history.last_losses())
    if history.gradient_norms:
        yield Evidence("last gradient norms", history.last_gradient_norms())


def _without_repeats(links: list[Link]) -> Iterator[Link]:
    last = None
    for link in links:
        if link != last:
            yield link
        last = link
