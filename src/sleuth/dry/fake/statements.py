"""The statement that stands on a line, and what depends on it."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Statement:
    """`after` are those that follow it in its block, `loops` the `while` loops around it."""

    node: ast.stmt
    after: Sequence[ast.stmt]
    loops: tuple[ast.While, ...]


def at(filename: str, line: int) -> Statement | None:
    """The innermost statement whose own text stands on this line."""
    return _by_line(filename).get(line)


def test_of(statement: ast.stmt) -> ast.expr | None:
    return statement.test if isinstance(statement, (ast.If, ast.While, ast.Assert)) else None


def ends_a_loop(statement: Statement) -> bool:
    """Does a `while` loop go on or end by what is computed here?"""
    node = statement.node
    if isinstance(node, ast.While):
        return True
    if isinstance(node, ast.If):
        return bool(statement.loops) and _has_break(node)
    if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    assigned = {name for target in targets for name in _names(target)}
    return any(assigned & set(_names(test)) for loop in statement.loops for test in _ending_tests(loop))


def _ending_tests(loop: ast.While) -> Iterator[ast.expr]:
    yield loop.test
    for inner in ast.walk(loop):
        if isinstance(inner, ast.If) and _has_break(inner):
            yield inner.test


def _has_break(node: ast.If) -> bool:
    return any(isinstance(one, (ast.Break, ast.Return)) for one in (*node.body, *node.orelse))


def _names(node: ast.AST) -> Iterator[str]:
    return (one.id for one in ast.walk(node) if isinstance(one, ast.Name))


@cache
def _by_line(filename: str) -> dict[int, Statement]:
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return {}
    found: dict[int, Statement] = {}
    _note(tree.body, (), found)
    return found


def _note(body: Sequence[ast.stmt], loops: tuple[ast.While, ...], found: dict[int, Statement]) -> None:
    for number, node in enumerate(body):
        inner = (*loops, node) if isinstance(node, ast.While) else loops
        for block in _blocks(node):
            _note(block, () if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else inner, found)
        # Last, so that `if x: raise` on one line is the `if`.
        for line in range(node.lineno, _last_line(node) + 1):
            found[line] = Statement(node, body[number + 1 :], loops)


def _blocks(node: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(node, name, [])
    for part in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
        yield part.body


def _last_line(node: ast.stmt) -> int:
    """The last line of the statement itself, without those that stand in it."""
    test = test_of(node)
    if test is not None:
        return test.end_lineno or node.lineno
    inner: list[ast.stmt] = getattr(node, "body", [])
    if inner:
        return max(node.lineno, inner[0].lineno - 1)
    return node.end_lineno or node.lineno
