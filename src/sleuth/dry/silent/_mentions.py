"""Whether the user's source speaks of a layer anywhere but where it is made."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from sleuth.program import is_users

# Whoever calls the parts of a module one after the other, or by a name that is put together, may mean any of them.
# (`modules()` and `vars()` are no sign of it: they initialise, count and print.)
_ALL_PARTS = {"children", "named_children", "_modules", "get_submodule"}


def is_users_class(kind: type) -> bool:
    return _file_of(kind) is not None


def is_mentioned(kind: type, attribute: str) -> bool:
    """Does the user's code read this attribute of the class's objects, other than in a constructor?"""
    files = {file for base in kind.__mro__ if (file := _file_of(base)) is not None}
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    if main is not None and is_users(main):
        files.add(main)
    read = set().union(*(_read_in(file) for file in files))
    return attribute in read or bool(read & _ALL_PARTS)


def _file_of(kind: type) -> str | None:
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file if file is not None and is_users(file) else None


@lru_cache(maxsize=128)
def _read_in(file: str) -> frozenset[str]:
    """The attributes that a file reads outside of constructors."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return frozenset(_ALL_PARTS)
    names = set()
    for node in _outside_of_constructors(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            names.add(node.attr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            names |= _asked_for(node)
    return frozenset(names)


def _asked_for(call: ast.Call) -> set[str]:
    """What `getattr(self, name)` may read."""
    name = call.args[1] if len(call.args) > 1 else None
    return {str(name.value)} if isinstance(name, ast.Constant) else _ALL_PARTS


def _outside_of_constructors(node: Any) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.FunctionDef) and child.name == "__init__"):
            yield child
            yield from _outside_of_constructors(child)
