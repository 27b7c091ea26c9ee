"""Graphs that stay alive: a token is hung on each step's graph, and one that outlives its step was kept by someone."""

from __future__ import annotations

import ast
import linecache
import sys
import weakref
from types import FrameType
from typing import Any, TypeGuard

from torch import Tensor

from sleuth.findings import Place
from sleuth.live import graph
from sleuth.live.signals import Run
from sleuth.program import place_at, users_frame

# Tokens are hung on the graphs of these steps; so many on end that outlive their step were kept by someone.
_FIRST, _LAST = 4, 72
_ENOUGH = 6
_NODES = 4000


class _Token:
    __slots__ = ("__weakref__",)


class Keepers:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._tokens: list[tuple[int, weakref.ref[_Token]]] = []
        self._judged = False

    @property
    def watching(self) -> bool:
        return not self._judged and self._run.step <= _LAST

    def differentiates(self, root: Tensor) -> None:
        step = self._run.step
        if self._judged or root.grad_fn is None or step < _FIRST:
            return
        if step > _LAST:
            self._judged, self._tokens = True, []
            return
        self._tokens = [(at, token) for at, token in self._tokens if token() is not None]
        if len({at for at, _ in self._tokens if at < step - 2}) >= _ENOUGH:
            self._judge(root)
            return
        token = _Token()
        _metadata(root.grad_fn)["sleuth"] = token
        self._tokens.append((step, weakref.ref(token)))

    def _judge(self, root: Tensor) -> None:
        self._judged = True
        alive = [token() for _, token in self._tokens]
        self._tokens = []
        if _count(root, alive, _NODES):
            # The program differentiates the sum of all its losses: that graph is meant to be there.
            return
        place, name = _holder(alive)
        self._run.facts.note("graph kept", self._run.step, place or self._run.backward_place, numbers={"name": name})


def _holder(tokens: list[Any]) -> tuple[Place | None, str | None]:
    """The variable that keeps the graphs, and the statement that puts them there."""
    frame = users_frame(sys._getframe(1))
    while frame is not None:
        for scope in (frame.f_locals, frame.f_globals):
            for name, value in list(scope.items()):
                if _keeps(value, tokens):
                    return _statement(frame, name), name
                inner = getattr(value, "__dict__", None)
                if isinstance(inner, dict) and not callable(value):
                    for attribute, held in list(inner.items())[:64]:
                        if _keeps(held, tokens):
                            return _statement(frame, attribute), f"{name}.{attribute}"
        frame = users_frame(frame.f_back)
    return None, None


def _keeps(value: Any, tokens: list[Any]) -> bool:
    if isinstance(value, Tensor):
        return value.grad_fn is not None and _count(value, tokens) > 1
    if isinstance(value, dict):
        return any(_keeps(item, tokens) for item in list(value.values())[:32])
    if isinstance(value, list | tuple) and len(value) >= _ENOUGH // 2:
        some = [item for item in value[-_ENOUGH:] if isinstance(item, Tensor) and item.grad_fn is not None]
        return sum(_count(item, tokens) > 0 for item in some) > 2
    return False


def _count(tensor: Tensor, tokens: list[Any], most: int = 400) -> int:
    """How many of the marked nodes of earlier steps the graph of this tensor contains."""
    wanted = {id(token) for token in tokens}
    return sum(id(_metadata(node).get("sleuth")) in wanted for node in graph.nodes_below([tensor], most))


def _metadata(node: Any) -> dict[str, Any]:
    """The dictionary that lives as long as the node."""
    held: dict[str, Any] = node.metadata
    return held


def _statement(frame: FrameType, name: str) -> Place | None:
    """The line in this file that adds to a variable of that name."""
    filename = frame.f_code.co_filename
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return None
    found: list[int] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and _is_named(node.target, name):
            found.append(node.lineno)
        elif isinstance(node, ast.Assign) and any(_is_named(target, name) for target in node.targets):
            if any(_is_named(part, name) for part in ast.walk(node.value)):
                found.append(node.lineno)
        elif _is_append(node, name):
            found.append(node.lineno)
    inside = [line for line in found if line >= frame.f_code.co_firstlineno]
    return place_at(filename, min(inside or found)) if found else None


def _is_append(node: ast.AST, name: str) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in ("append", "add", "extend") and _is_named(_base(node.func.value), name)


def _base(node: ast.AST) -> ast.AST:
    return node.value if isinstance(node, ast.Subscript) else node


def _is_named(node: ast.AST, name: str) -> bool:
    node = _base(node)
    return (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Attribute) and node.attr == name)
