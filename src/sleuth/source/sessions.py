"""Sessions of TensorFlow 1: what they run, and what creates and initialises its variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sleuth.source.sites import Step
from sleuth.source.values import Value

_INITIALISERS: Final = frozenset(
    "global_variables_initializer initialize_all_variables local_variables_initializer initialize_local_variables "
    "variables_initializer initialize_variables tables_initializer".split()
)
_VARIABLES: Final = frozenset({"Variable", "get_variable"})
_MOST: Final = 400
# These optimisers keep variables of their own for each weight.
_WITH_SLOTS: Final = frozenset(
    "AdamOptimizer AdagradOptimizer AdadeltaOptimizer RMSPropOptimizer MomentumOptimizer FtrlOptimizer".split()
)


def is_session(value: Value) -> bool:
    return value.api.startswith("tensorflow.") and _last(value) in ("Session", "InteractiveSession")


def may_be_session(value: Value) -> bool:
    """Also something handed in: what runs a tensor of TensorFlow is a session."""
    return is_session(value) or (value.kind == "?" and value.op.startswith(("param:", "attr:")))


def fetched(step: Step) -> Iterator[Value]:
    """What a call of `run` was asked for, also in lists and dictionaries."""
    asked = step.site.operand(1, "fetches")
    todo = [] if asked is None else [asked]
    while todo:
        one = todo.pop(0)
        if one.kind in ("sequence", "mapping"):
            todo += one.parts or []
        else:
            yield one


def initialises(value: Value) -> bool:
    return value.api.startswith("tensorflow.") and _last(value) in _INITIALISERS


def creators(value: Value) -> Iterator[Value]:
    """The variables something is computed from, and the training operation that brings variables of its own."""
    for one in _computed_from(value):
        variable = one.api.startswith("tensorflow.") and _last(one) in _VARIABLES
        if variable or (one.op == "call:minimize" and one.inputs and _last(one.inputs[0]) in _WITH_SLOTS):
            yield one


def _computed_from(value: Value) -> Iterator[Value]:
    """It and all it was computed from, also what was given by name."""
    todo, seen = [value], set[int]()
    while todo and len(seen) < _MOST:
        one = todo.pop(0)
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            todo += (*one.inputs, *one.options.values())


def _last(value: Value) -> str:
    return value.api.rpartition(".")[2]
