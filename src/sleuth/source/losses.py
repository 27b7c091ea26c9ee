"""Which argument of a loss is the prediction and which the target: frameworks disagree on their order."""

from __future__ import annotations

from typing import Final

from sleuth.source import labels
from sleuth.source.dtypes import FLOATS
from sleuth.source.sites import Site
from sleuth.source.values import Value, maybe_made_by

# Their losses take the labels first.
_LABELS_FIRST: Final = ("tensorflow.", "keras.")
_PREDICTION: Final = ("input", "logits", "y_pred", "predictions", "inputs")
_TARGET: Final = ("target", "labels", "y_true", "onehot_labels", "multi_class_labels", "targets")

_ANY_SIGN: Final = frozenset({"randn", "matmul", "sin"})
_OF_CLASSES: Final = frozenset(
    "softmax sigmoid one_hot eye compare argmax randint batch module linear conv normalize sum call".split()
)
_MOST: Final = 200


def prediction(site: Site) -> Value | None:
    """What a loss was given as the network's answer."""
    return site.operand(1 if labels_first(site) else 0, *_PREDICTION)


def target(site: Site) -> Value | None:
    """What a loss was given as the right answer."""
    return site.operand(0 if labels_first(site) else 1, *_TARGET)


def is_continuous(target: Value) -> bool:
    """Numbers with a fraction that are no probabilities of classes?"""
    if labels.encoding(target) is not None or maybe_made_by(target, "softmax", "sigmoid", "compare") is not None:
        return False
    return target.dtype in FLOATS


def is_quantity(target: Value) -> bool:
    """Numbers of any sign, surely: computed from noise or products, and from nothing that says classes."""
    if target.dtype not in FLOATS:
        return False
    made: list[Value] = []
    todo = [target]
    while todo and len(made) < _MOST:
        one = todo.pop()
        made.append(one)
        # What rows were picked by says nothing of what stands in them.
        todo += one.inputs[:1] if one.op == "index" else one.inputs
    known = all(one.inputs or one.op or one.kind in ("number", "none", "sequence", "slice") for one in made)
    return known and any(one.op in _ANY_SIGN for one in made) and not any(one.op in _OF_CLASSES for one in made)


def labels_first(site: Site) -> bool:
    return site.name.startswith(_LABELS_FIRST)
