"""The equations of a jaxpr: the user's line of each, and what lies inside those that call others."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import Any

from sleuth.program import is_users

Line = tuple[CodeType, int]


def inner_jaxprs(equation: Any) -> Iterator[Any]:
    """The jaxprs that a loop, branch or call holds."""
    for value in equation.params.values():
        for one in value if isinstance(value, tuple | list) else (value,):
            jaxpr = getattr(one, "jaxpr", one)
            if hasattr(jaxpr, "eqns"):
                yield jaxpr


def line_of(source_info: Any) -> Line | None:
    """The innermost line of the user's behind an equation."""
    trace = getattr(source_info, "traceback", None)
    if trace is None:
        return None
    codes, instructions = trace.raw_frames()
    for code, instruction in zip(codes, instructions, strict=True):
        if is_users(code.co_filename):
            return code, instruction
    return None


def name_of(equation: Any) -> str:
    """What the user would call it: the function behind a compiled call, `matmul` for a product."""
    name = str(equation.primitive.name)
    if name in ("jit", "pjit", "custom_jvp_call", "custom_vjp_call"):
        return str(equation.params.get("name") or name)
    return {"dot_general": "matmul", "broadcast_in_dim": "broadcast", "convert_element_type": "astype"}.get(name, name)
