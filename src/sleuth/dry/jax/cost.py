"""What a traced function would cost, and how much of it a rehearsal can pay for."""

from __future__ import annotations

import math
from typing import Any

from sleuth.dry.jax.equations import inner_jaxprs

# A few seconds of one core, in multiplications and additions of matrices; and a third of a small laptop's memory.
_MOST_OPERATIONS = 1e11
_MOST_BYTES = 2 << 30


class Purse:
    """What has been spent on real numbers; `gradients` counts the differentiated functions that were called."""

    def __init__(self) -> None:
        self.gradients = 0
        self._spent = 0.0

    def affords(self, closed: Any) -> bool:
        needed = operations(closed.jaxpr)
        if self._spent + needed > _MOST_OPERATIONS or largest(closed.jaxpr) > _MOST_BYTES:
            return False
        self._spent += needed
        return True


def operations(jaxpr: Any) -> float:
    total = 0.0
    for equation in jaxpr.eqns:
        inner = [operations(one) for one in inner_jaxprs(equation)]
        if equation.primitive.name == "cond":
            total += max(inner, default=0.0)
        else:
            total += sum(inner) * equation.params.get("length", 1) + _own(equation)
    return total


def _own(equation: Any) -> float:
    name = equation.primitive.name
    if name == "dot_general":
        (contracted, _), _ = equation.params["dimension_numbers"]
        left = equation.invars[0].aval.shape
        return float(2 * _size(equation.outvars[0]) * math.prod(left[axis] for axis in contracted))
    if name == "conv_general_dilated":
        kernel = equation.invars[1].aval.shape
        output_features = kernel[equation.params["dimension_numbers"].rhs_spec[0]]
        return float(2 * _size(equation.outvars[0]) * math.prod(kernel) / max(1, output_features))
    return 0.0


def largest(jaxpr: Any) -> float:
    """The bytes of the largest array it makes."""
    found = [
        _size(made) * getattr(getattr(made.aval, "dtype", None), "itemsize", 4)
        for equation in jaxpr.eqns
        for made in equation.outvars
    ]
    inside = [largest(one) for equation in jaxpr.eqns for one in inner_jaxprs(equation)]
    return max((*found, *inside), default=0.0)


def _size(variable: Any) -> float:
    return float(math.prod(getattr(variable.aval, "shape", ())))
