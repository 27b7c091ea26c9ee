"""Which loss function a jaxpr ends in: by the library function that the user's line calls, or by its form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sleuth.findings import Place
from sleuth.live.jax.listing import Listing, Op
from sleuth.live.loss_numbers import measure
from sleuth.live.signals import LossLook

# What libraries call them, and what the rules do.
NAMES = {
    "softmax_cross_entropy_with_integer_labels": "cross_entropy",
    "softmax_cross_entropy": "cross_entropy",
    "sigmoid_binary_cross_entropy": "binary_cross_entropy_with_logits",
    "squared_error": "mse_loss",
    "l2_loss": "half_mse_loss",
    "huber_loss": "huber_loss",
    "sparse_categorical_crossentropy": "cross_entropy",
    "categorical_crossentropy": "cross_entropy",
    "binary_crossentropy": "binary_cross_entropy_with_logits",
    "mean_squared_error": "mse_loss",
}
# These take scores or probabilities, by a setting: what they do with them tells which.
_OF_SCORES = {"sparse_categorical_crossentropy": "log_softmax", "categorical_crossentropy": "log_softmax",
              "binary_crossentropy": "log_sigmoid"}  # fmt: skip
_OF_PROBABILITIES = {"cross_entropy": "cross_entropy_of_probabilities",
                     "binary_cross_entropy_with_logits": "binary_cross_entropy"}  # fmt: skip
_VIEWS = frozenset(("reshape", "broadcast_in_dim", "transpose", "convert_element_type", "squeeze", "copy"))


@dataclass(frozen=True, slots=True)
class Found:
    """A call of a loss function: the numbers of what went in and came out."""

    function: str
    scores: int
    target: int
    output: int
    place: Place | None
    # -1 where the output is the logarithm of a probability, which is the loss with its sign turned.
    sign: int = 1


def find(listing: Listing, root: int, weights: set[int]) -> list[Found]:
    """The loss functions behind the differentiated number."""
    behind = list(listing.behind(root))
    depends = _depends(listing, weights)
    groups = []
    for library, name in NAMES.items():
        for line in {op.line for op in behind if library in op.within}:
            ops = [op for op in listing.ops if library in op.within and op.line == line]
            of_scores = library not in _OF_SCORES or any(_OF_SCORES[library] in op.within for op in ops)
            groups.append((name if of_scores else _OF_PROBABILITIES[name], ops))
    # One that another calls is a part of that one.
    outermost = [(name, ops) for name, ops in groups if not any(set(ops) < set(others) for _, others in groups)]
    found = [one for name, ops in outermost if (one := _of_library(listing, ops, name, depends)) is not None]
    return found or [one for op in behind if (one := _by_form(listing, op, depends)) is not None][:1]


def _depends(listing: Listing, weights: set[int]) -> set[int]:
    """The values that depend on the weights."""
    found = set(weights)
    for op in listing.ops:
        if found.intersection(op.inputs):
            found.update(op.outputs)
    return found


def _of_library(listing: Listing, ops: list[Op], name: str, depends: set[int]) -> Found | None:
    numbers = {op.number for op in ops}
    made = {i for op in ops for i in op.outputs}
    given = {i for op in ops for i in op.inputs} - made - listing.constants.keys()
    out = {i for op in listing.ops if op.number not in numbers for i in op.inputs} | set(listing.results)
    outputs = made & out
    scores, targets = given & depends, given - depends
    if len(outputs) != 1 or len(scores) != 1 or len(targets) != 1:
        return None
    return Found(name, scores.pop(), targets.pop(), outputs.pop(), max(ops, key=lambda op: op.number).place)


def _by_form(listing: Listing, op: Op, depends: set[int]) -> Found | None:
    """(output - target) ** 2, and log_softmax picked out by integer labels."""
    squared = op.name == "square" or (op.name == "integer_pow" and op.params.get("y") == 2)
    squared = squared or (op.name == "mul" and len(set(op.inputs)) == 1)
    difference = listing.makers.get(op.inputs[0]) if squared else None
    if difference is not None and difference.name == "sub":
        scores = [i for i in difference.inputs if i in depends]
        targets = [i for i in difference.inputs if i not in depends and i not in listing.constants]
        if len(scores) == 1 and len(targets) == 1 and listing.leaves_behind(targets[0]):
            return Found("mse_loss", _unspread(listing, scores[0]), _unspread(listing, targets[0]), op.outputs[0],
                         op.place)  # fmt: skip
    if op.name == "gather" and op.inputs[0] in depends:
        soft = listing.makers.get(op.inputs[0])
        while soft is not None and soft.name in _VIEWS:
            soft = listing.makers.get(soft.inputs[0])
        if soft is not None and "log_softmax" in soft.within:
            return _log_softmax(listing, op, soft, depends)
    return None


def _unspread(listing: Listing, value: int) -> int:
    """Before it was broadcast to meet the other."""
    op = listing.makers.get(value)
    return op.inputs[0] if op is not None and op.name == "broadcast_in_dim" else value


def _log_softmax(listing: Listing, gather: Op, soft: Op, depends: set[int]) -> Found | None:
    ops = [op for op in listing.behind(soft.outputs[0]) if "log_softmax" in op.within and op.line == soft.line]
    made = {i for op in ops for i in op.outputs}
    scores = {i for op in ops for i in op.inputs if i in depends} - made
    leaves = [i for i in listing.leaves_behind(gather.inputs[1]) if i not in depends]
    if len(scores) != 1 or len(leaves) != 1:
        return None
    return Found("cross_entropy", scores.pop(), leaves[0], gather.outputs[0], gather.place, sign=-1)


def look(
    found: Found,
    values: dict[int, Any],
    total: float,
    made_by: str,
    made_at: Place | None,
    listing: Listing,
    weights: set[int],
) -> LossLook | None:
    """The call in numbers. `total` is the number that was differentiated."""
    return measure(
        found.function,
        values[found.scores],
        values[found.target],
        found.sign * values[found.output],
        total,
        made_by,
        made_at,
        found.place,
        computed_targets=bool(listing.leaves_behind(found.target) & weights),
    )
