"""Whether data is what a model's Input declares."""

from __future__ import annotations

from typing import Any

import keras

from sleuth.dry.keras.trouble import Shape


def unlike(model: Any, x: Any) -> tuple[Any, Shape, Shape] | None:
    """The input that is given something else, what it declares, and what it is given."""
    inputs, given = getattr(model, "inputs", None) or (), keras.tree.flatten(x)
    if len(inputs) != len(given):
        return None
    for declared, data in zip(inputs, given, strict=True):
        if hasattr(data, "shape") and not _fits(tuple(declared.shape), tuple(data.shape)):
            return declared, tuple(declared.shape), tuple(data.shape)
    return None


def _fits(declared: Shape, given: Shape) -> bool:
    """Keras itself adds or takes away a last axis of 1."""
    if len(given) != len(declared):
        longer, shorter = sorted((declared, given), key=len, reverse=True)
        return len(longer) == len(shorter) + 1 and longer[-1] == 1
    return all(None in pair or pair[0] == pair[1] for pair in zip(declared[1:], given[1:], strict=True))
