"""Where an array of a traced function comes from: the operations that JAX has written down so far, as births."""

from __future__ import annotations

from typing import Any

import jax

from sleuth.dry.births import Birth
from sleuth.dry.jax.equations import line_of, name_of

# As far back as a story is told.
_DEEPEST = 40


def birth_of(array: Any, name: str = "") -> Birth:
    """The birth of an array or tracer, with those of all it was made from."""
    return _birth(array, name, {}, 0)


def _birth(array: Any, name: str, known: dict[int, Birth], depth: int) -> Birth:
    plain = _unwrapped(array)
    if id(plain) in known:
        return known[id(plain)]
    birth = known[id(plain)] = Birth("array", _shape(array), _dtype(array), "", name=name)
    equation = getattr(plain, "parent", None)
    if equation is None:
        birth.name = name or argument_name(plain)
        birth.operation = "argument" if isinstance(plain, jax.core.Tracer) else "array"
        return birth
    birth.operation = name_of(equation)
    line = line_of(equation.source_info)
    if line is not None:
        birth.code, birth.instruction = line
    if depth < _DEEPEST:
        given = [one for one in equation.in_tracers if hasattr(one, "aval")]
        birth.parents = tuple(_birth(one, "", known, depth + 1) for one in given if _matters(one))
    return birth


def _matters(tracer: Any) -> bool:
    """Numbers written in the code are no part of a shape's story."""
    return getattr(tracer, "parent", None) is not None or bool(argument_name(tracer))


def _unwrapped(array: Any) -> Any:
    """What stands behind the tracers of grad and vmap."""
    for _ in range(_DEEPEST):
        inner = getattr(array, "primal", None)
        if inner is None and type(array).__name__ == "BatchTracer":
            inner = array.val
        if inner is None:
            return array
        array = inner
    return array


def argument_name(tracer: Any) -> str:
    """The name of the traced function's argument that this is; "" for anything else."""
    frame = getattr(getattr(tracer, "_trace", None), "frame", None)
    if frame is None:
        return ""
    names = getattr(frame.debug_info, "arg_names", None) or ()
    for name, variable in zip(names, frame.invars, strict=False):
        if variable is getattr(tracer, "val", None):
            return str(name or "")
    return ""


def _shape(array: Any) -> tuple[int, ...]:
    return tuple(getattr(array, "shape", ()))


def _dtype(array: Any) -> str:
    return str(getattr(array, "dtype", type(array).__name__))
