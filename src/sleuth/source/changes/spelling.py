"""How a file would write a name of a library: through the imports it has."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import Final

from sleuth.source.changes import Change
from sleuth.source.scopes import File

# What our tables call keras and lightning, and what files import.
_ROOTS: Final = (("keras", "tensorflow.keras"), ("lightning", "pytorch_lightning"), ("lightning", "lightning.pytorch"))


def in_the_words_of(raw: str, change: Change) -> str:
    """The new name, below the same package by which the file reached the old one."""
    new = change.new
    for root, package in _ROOTS:
        if (new == root or new.startswith(root + ".")) and (raw == package or raw.startswith(package + ".")):
            return package + new[len(root) :]
    return new


def spelled(file: File, dotted: str, like: ast.AST | None = None, raw: str = "") -> str | None:
    """An expression for a dotted name by the names that the file has; None where it would need another import.

    `like` is an expression of the file that stands for `raw`: what it begins with is imported too."""
    sign = "-" if dotted.startswith("-") else ""
    dotted = dotted.removeprefix("-")
    if not _is_a_name(dotted):
        return sign + dotted
    best = ""
    result = None
    for local, prefix in (*_imports(file), *_beginning(like, raw)):
        if (dotted == prefix or dotted.startswith(prefix + ".")) and len(prefix) > len(best):
            best, result = prefix, local + dotted[len(prefix) :]
    return None if result is None else sign + result


def _is_a_name(text: str) -> bool:
    """A name that has to be imported, not a builtin or an expression."""
    return not hasattr(builtins, text) and all(part.isidentifier() for part in text.split("."))


def _imports(file: File) -> Iterator[tuple[str, str]]:
    for local, value in file.globals.items():
        if value.kind == "api" and value.raw and isinstance(value.node, ast.alias):
            yield local, value.raw


def _beginning(like: ast.AST | None, raw: str) -> Iterator[tuple[str, str]]:
    parts = raw.split(".")
    node = like
    while isinstance(node, ast.Attribute) and parts:
        node, parts = node.value, parts[:-1]
    if isinstance(node, ast.Name) and parts:
        yield node.id, ".".join(parts)
