"""What a call of a model would cost, from the shapes alone."""

from __future__ import annotations

import math
from typing import Any

import keras

# A few seconds of training on two cores of a laptop, in multiplications and additions of forward passes. Below what
# the rehearsal of torch programs allows, so that Keras on torch is never stopped half-way.
_AFFORDABLE = 2e10
# JAX compiles a step as one, which takes long for many layers; its symbolic call has shown nearly everything by then.
_MOST_COMPILED = 60
_TIME_TO_COMPILE = 0.6


def operations_of(layer: Any, shape: tuple[Any, ...]) -> int:
    """Multiplications and additions of a layer whose every weight is used once for each position of the output."""
    if type(layer).__name__ == "Embedding":
        return 0
    weights = sum(math.prod(variable.shape) for variable in getattr(layer, "_trainable_variables", ()))
    positions = math.prod(size or 1 for size in shape[:-1])
    return int(2 * weights * positions)


def affordable(operations: float, layers: int, time_left: float) -> bool:
    """`time_left` as a share of what the rehearsal may take."""
    if keras.backend.backend() == "jax" and (layers > _MOST_COMPILED or time_left < _TIME_TO_COMPILE):
        return False
    return operations <= _AFFORDABLE
