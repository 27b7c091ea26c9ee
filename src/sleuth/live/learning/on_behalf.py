"""What a library makes on the user's behalf, as trainers make optimisers and loaders, and the user's line behind it."""

from __future__ import annotations

import ast
import linecache
import os
import sys
from types import CodeType, FrameType
from typing import Any

from sleuth.findings import Place
from sleuth.program import is_installed, is_users, place_at

_RATES = ("learning_rate", "lr")


def is_made_by_library(thing: Any, users: FrameType, frame: FrameType | None) -> bool:
    """Does a library (other than torch) stand between the user's line and this frame, in which the thing is made? The
    thing's own constructors do not count."""
    while frame is not None and frame is not users:
        code = frame.f_code
        own = code.co_argcount > 0 and frame.f_locals.get(code.co_varnames[0]) is thing
        if not own and _is_library(code.co_filename):
            return True
        frame = frame.f_back
    return False


def _is_library(filename: str) -> bool:
    known = tuple(sys.modules[name].__path__[0] + os.sep for name in ("sleuth", "torch"))
    return not filename.startswith(known) and is_installed(filename)


def place_of_rate(users: CodeType, rate: float) -> Place | None:
    """The keyword argument in the user's file that tells a library this learning rate: the one with the number, or
    else the only one there is."""
    keywords = (node for node in ast.walk(_tree(users.co_filename)) if isinstance(node, ast.keyword))
    found = [keyword.value for keyword in keywords if keyword.arg in _RATES]
    equal: list[ast.expr] = [value for value in found if isinstance(value, ast.Constant) and value.value == rate]
    chosen = equal or [value for value in found if not isinstance(value, ast.Constant)]
    return place_at(users.co_filename, chosen[0].lineno) if len(chosen) == 1 else None


def _tree(filename: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def place_of_samples(dataset: Any) -> Place | None:
    """Where the user's own data set puts a sample together."""
    for name in ("__getitem__", "__getitems__", "__iter__"):
        code = getattr(getattr(type(dataset), name, None), "__code__", None)
        if code is not None and is_users(code.co_filename):
            return place_at(code.co_filename, code.co_firstlineno)
    return None
