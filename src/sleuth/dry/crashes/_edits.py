"""Changes of the user's source, made at a node of its syntax tree."""

from __future__ import annotations

import ast
import linecache

from sleuth.findings import Edit
from sleuth.program import shown_path


def replaced(filename: str, node: ast.expr, text: str) -> Edit:
    """The expression, replaced by this text."""
    end_line = node.end_lineno or node.lineno
    return Edit(
        shown_path(filename),
        node.lineno,
        _column(filename, node.lineno, node.col_offset),
        end_line,
        _column(filename, end_line, node.end_col_offset or 0),
        text,
    )


def put_behind(filename: str, node: ast.expr, text: str) -> Edit:
    """This text right behind the expression."""
    end_line = node.end_lineno or node.lineno
    column = _column(filename, end_line, node.end_col_offset or 0)
    return Edit(shown_path(filename), end_line, column, end_line, column, text)


def put_before(filename: str, node: ast.expr, text: str) -> Edit:
    """This text right before the expression."""
    column = _column(filename, node.lineno, node.col_offset)
    return Edit(shown_path(filename), node.lineno, column, node.lineno, column, text)


def between(filename: str, first: ast.expr, second: ast.expr, text: str) -> Edit:
    """This text for everything from the start of one expression to the start of the other."""
    column, end = _column(filename, first.lineno, first.col_offset), _column(filename, second.lineno, second.col_offset)
    return Edit(shown_path(filename), first.lineno, column, second.lineno, end, text)


def one_more_argument(filename: str, call: ast.Call, text: str) -> Edit | None:
    """The call with this argument as its last; None where a comma or a comment stands in the way."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    last = max(given, key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0), default=None)
    if last is None or (isinstance(last, ast.GeneratorExp) and len(given) == 1):
        return None
    return put_behind(filename, last, f", {text}")


def _column(filename: str, line: int, offset: int) -> int:
    """The syntax tree counts bytes from 0, an edit characters from 1."""
    return len(linecache.getline(filename, line).encode()[:offset].decode(errors="replace")) + 1
