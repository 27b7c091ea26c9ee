"""Code that is meant for some versions of a library only: behind a test of the version, or with a way out beside it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from sleuth.source.scopes import File

_WAYS_OUT: Final = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "TypeError"})
# `except Exception` around a whole program is no fallback for one name; around a few lines it is.
_ALL: Final = frozenset({"Exception", "BaseException"})
_FEW_STATEMENTS: Final = 4
_VERSION_WORDS: Final = re.compile(
    r"version|hasattr|find_spec|_available$|^is_torch_|^is_tf|^has_|_?greater_|_less_|major|minor|compat|legacy"
    r"|torch_?[12]|tf_?[12]|keras_?[23]|(?:^|_)(?:ge|lt|gt|le)_|^py[23]|^old_|_old$",
    re.IGNORECASE,
)
_NAMED_FOR_A_VERSION: Final = re.compile(r"version|compat|legacy|backport|(?:^|_)(?:v1|tf1|old)(?:_|$)", re.IGNORECASE)
_HARDWARE: Final = frozenset({"cuda", "mps", "xpu", "gpu", "tpu", "distributed", "nccl"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@lru_cache(maxsize=2)
def parents(file: File) -> dict[int, ast.AST]:
    """The node around each node of a file, by identity."""
    return {id(child): node for node in ast.walk(file.tree) for child in ast.iter_child_nodes(node)}


def around(file: File, node: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The nodes around a node, innermost first, each with the child that leads to it."""
    known, child = parents(file), node
    while (parent := known.get(id(child))) is not None:
        yield parent, child
        child = parent


def is_guarded(file: File, node: ast.AST) -> bool:
    """May it never run with the versions in which it would fail?"""
    for parent, child in around(file, node):
        if isinstance(parent, ast.Try) and child not in parent.finalbody and _has_way_out(parent):
            return True
        if (
            isinstance(parent, ast.If | ast.IfExp | ast.While)
            and child is not parent.test
            and speaks_of_versions(file, parent.test)
        ):
            return True
        if isinstance(parent, ast.BoolOp) and any(
            speaks_of_versions(file, value) for value in parent.values if value is not child
        ):
            return True
        if isinstance(parent, _Function) and _is_for_a_version(file, parent):
            return True
        if _left_before(file, parent, child) or _replaced_after(file, parent, child):
            return True
    return False


def _has_way_out(node: ast.Try) -> bool:
    caught = {name for handler in node.handlers for name in _caught(handler)}
    return bool(caught & _WAYS_OUT) or (bool(caught & _ALL) and len(node.body) <= _FEW_STATEMENTS)


def _caught(handler: ast.ExceptHandler) -> Iterator[str]:
    if handler.type is None:
        yield "BaseException"
        return
    for node in ast.walk(handler.type):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def speaks_of_versions(file: File, test: ast.AST, depth: int = 2) -> bool:
    """Does a condition ask which version, or what a library has? Names are followed to what they were set to."""
    words = list(_words(test))
    if any(_VERSION_WORDS.search(word) for word in words):
        return not _HARDWARE & {word.lower() for word in words}
    if depth == 0:
        return False
    for node in ast.walk(test):
        if isinstance(node, ast.Name):
            value = file.globals.get(node.id)
            made = None if value is None else value.node
            if (
                made is not None
                and made is not test
                and isinstance(made, ast.expr)
                and speaks_of_versions(file, made, depth - 1)
            ):
                return True
    return False


def _words(test: ast.AST) -> Iterator[str]:
    for node in ast.walk(test):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _is_for_a_version(file: File, function: _Function) -> bool:
    return bool(_NAMED_FOR_A_VERSION.search(function.name)) or any(
        speaks_of_versions(file, decorator, 0) for decorator in function.decorator_list
    )


def _left_before(file: File, parent: ast.AST, child: ast.AST) -> bool:
    """Does an earlier statement of the same block leave it for some versions?"""
    for block in ("body", "orelse", "finalbody"):
        statements = getattr(parent, block, None)
        if isinstance(statements, list) and child in statements:
            return any(_leaves_for_a_version(file, one) for one in statements[: statements.index(child)])
    return False


def _replaced_after(file: File, parent: ast.AST, child: ast.AST) -> bool:
    """`norm = old` and then `if hasattr(…): norm = new`: the old one is for those who lack the new."""
    statements = getattr(parent, "body", None)
    if not isinstance(child, ast.Assign) or not isinstance(statements, list) or child not in statements:
        return False
    names = {target.id for target in child.targets if isinstance(target, ast.Name)}
    return any(
        isinstance(one, ast.If) and speaks_of_versions(file, one.test) and names & _assigned(one)
        for one in statements[statements.index(child) + 1 :]
    )


def _assigned(statement: ast.stmt) -> set[str]:
    return {
        target.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _leaves_for_a_version(file: File, statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.If)
        and isinstance(statement.body[-1], ast.Return | ast.Raise | ast.Continue)
        and speaks_of_versions(file, statement.test)
    )
