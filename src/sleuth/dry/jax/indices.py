"""Rows that a table does not have: JAX reads another row, or NaN, without a word."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from sleuth import handbook
from sleuth.dry.jax.equations import inner_jaxprs, line_of
from sleuth.findings import Evidence
from sleuth.program import place_of

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

# Index arithmetic is followed on arrays up to this size.
_MOST = 5_000_000
_FOLLOWED = frozenset(
    ("lt", "ge", "gt", "le", "eq", "add", "sub", "mul", "select_n", "broadcast_in_dim", "reshape", "squeeze",
     "transpose", "convert_element_type", "slice", "concatenate", "copy", "expand_dims", "and", "or", "not")
)  # fmt: skip
_CALLS = ("jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call", "remat", "checkpoint")


def look(stage: Stage, traced: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Follow the whole numbers among the arguments to the tables they index."""
    closed = traced.jaxpr
    given = [leaf for leaf in jax.tree.leaves((args, kwargs)) if hasattr(leaf, "dtype")]
    if len(given) != len(closed.jaxpr.invars):
        return
    known = {}
    for variable, value in zip(closed.jaxpr.invars, given, strict=True):
        if tuple(value.shape) == tuple(variable.aval.shape) and _is_index(value):
            known[variable] = np.asarray(value)
    if known:
        _follow(stage, closed.jaxpr, known)


def _is_index(value: Any) -> bool:
    kind = getattr(value.dtype, "kind", "")
    return kind in "iu" and math.prod(value.shape) <= _MOST


def _follow(stage: Stage, jaxpr: Any, known: dict[Any, Any]) -> None:
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name == "gather":
            _check(stage, equation, _value(known, equation.invars[1]))
        elif name in _CALLS:
            for inner in inner_jaxprs(equation):
                if len(inner.invars) == len(equation.invars):
                    pairs = zip(inner.invars, equation.invars, strict=True)
                    inside = {ours: value for ours, theirs in pairs if (value := _value(known, theirs)) is not None}
                    _follow(stage, inner, inside)
                    for made, result in zip(equation.outvars, inner.outvars, strict=False):
                        if (value := _value(inside, result)) is not None:
                            known[made] = value
        elif name in _FOLLOWED:
            values = [_value(known, variable) for variable in equation.invars]
            if all(value is not None for value in values):
                made = equation.primitive.bind(*values, **equation.params)
                known[equation.outvars[0]] = np.asarray(made)


def _value(known: dict[Any, Any], variable: Any) -> Any:
    return variable.val if hasattr(variable, "val") else known.get(variable)


def _check(stage: Stage, equation: Any, indices: Any) -> None:
    axes = equation.params["dimension_numbers"].start_index_map
    if indices is None or len(axes) != 1 or indices.size == 0:
        return
    table = equation.invars[0].aval.shape
    rows, width = table[axes[0]], equation.params["slice_sizes"][axes[0]]
    low, high = int(indices.min()), int(indices.max())
    line = line_of(equation.source_info)
    if width != 1 or line is None or (low >= 0 and high < rows):
        return
    # A negative index counts from the end; one that is still negative here lies before the beginning.
    wrong = high if high >= rows else low - rows
    labels = "softmax_cross_entropy" in _functions(equation)
    stage.journal.finding(
        handbook.finding(
            "label-out-of-range" if labels else "embedding-too-small",
            place=place_of(*line),
            title=f"index {wrong} into {rows} {'classes' if labels else 'rows'} (0 to {rows - 1}): JAX says nothing",
            certainty="certain" if labels or len(table) > 1 else "likely",
            evidence=[Evidence("rows", rows), Evidence("shape of the table", str(table)), Evidence("index", wrong)],
        )
    )


def _functions(equation: Any) -> str:
    trace = equation.source_info.traceback
    return " ".join(code.co_name for code in trace.raw_frames()[0]) if trace is not None else ""
