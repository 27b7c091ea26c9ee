"""How a check says what it found: the place, the story that leads there, and the edits that mend it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, Protocol

from sleuth import handbook
from sleuth.findings import Certainty, Edit, Evidence, Finding, Fix, Link, Place, Severity
from sleuth.source.scopes import File
from sleuth.source.sites import Spot
from sleuth.source.values import Value

_LONGEST_CODE = 160


class Somewhere(Protocol):
    """A site, use, assignment …: something with a node at a spot."""

    @property
    def node(self) -> Any: ...

    @property
    def spot(self) -> Spot: ...


def found(
    diagnosis: str,
    at: Somewhere | File,
    *,
    node: ast.AST | None = None,
    file: File | None = None,
    title: str | None = None,
    certainty: Certainty = "certain",
    severity: Severity = "error",
    chain: Iterable[Link] = (),
    evidence: Iterable[Evidence] = (),
    fixes: Iterable[Fix] = (),
) -> Finding:
    """A finding at a site (or at another node of it, or of a file); the handbook page classifies and names it."""
    if isinstance(at, File):
        where, what = at, node
    else:
        where, what = file or at.spot.file, node if node is not None else at.node
    return handbook.finding(
        diagnosis,
        place=place(where, what),
        title=title,
        certainty=certainty,
        severity=severity,
        chain=chain,
        evidence=evidence,
        fixes=fixes,
    )


def place(file: File, node: Any) -> Place:
    """Where a node stands. A long statement (a loop, a class) is shown by its first line."""
    if getattr(node, "lineno", None) is None:
        return Place(file.shown, 1, 1, 1, None)
    (line, column), (end, _) = file.span(node)
    text = file.source(node)
    if isinstance(node, ast.stmt) and hasattr(node, "body"):
        end, text = line, text.split("\n")[0]
    code = " ".join(text.split())
    return Place(file.shown, line, column, end, code if len(code) <= _LONGEST_CODE else code[: _LONGEST_CODE - 1] + "…")


def because(value: Value | ast.AST, what: str, file: File | None = None) -> Link:
    """One sentence of the story, and the line it speaks of: that which made a value, or a node of a file."""
    if isinstance(value, Value):
        where, node = value.unit, value.node
    else:
        where, node = file, value
    known = isinstance(where, File) and getattr(node, "lineno", None) is not None
    return Link(what, place(where, node) if known and isinstance(where, File) else None)


def replace(file: File, node: Any, text: str) -> Edit:
    """Write something else in place of a node."""
    (line, column), (end_line, end_column) = file.span(node)
    return Edit(file.shown, line, column, end_line, end_column, text)


def between(file: File, after: Any, before: Any, text: str) -> Edit:
    """Write something else between the end of one node and the start of another."""
    _, (line, column) = file.span(after)
    (end_line, end_column), _ = file.span(before)
    return Edit(file.shown, line, column, end_line, end_column, text)


def insert_before(file: File, node: Any, text: str) -> Edit:
    (line, column), _ = file.span(node)
    return Edit(file.shown, line, column, line, column, text)


def insert_after(file: File, node: Any, text: str) -> Edit:
    _, (line, column) = file.span(node)
    return Edit(file.shown, line, column, line, column, text)


def before_method(file: File, call: Any, text: str) -> Edit:
    """Another method in front of the one that is called: `.cpu()` before `.numpy()`."""
    _, (line, column) = file.span(call.func)
    dot = column - len(call.func.attr) - 1
    return Edit(file.shown, line, dot, line, dot, text)


def insert_statement_before(file: File, statement: Any, text: str) -> Edit:
    """A new line of its own above a statement, indented like it."""
    line = statement.lineno
    indent = file.lines[line - 1][: len(file.lines[line - 1]) - len(file.lines[line - 1].lstrip())]
    return Edit(file.shown, line, 1, line, 1, f"{indent}{text}\n")


def add_argument(file: File, call: ast.Call, text: str) -> Edit:
    """One more argument at the end of a call."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    if given:
        last = max(given, key=lambda one: (one.end_lineno or 0, one.end_col_offset or 0))
        return insert_after(file, _with_its_parentheses(file, call, last), f", {text}")
    (_, _), (line, column) = file.span(call)
    return Edit(file.shown, line, column - 1, line, column - 1, text)


def _with_its_parentheses(file: File, call: ast.Call, last: ast.expr) -> Any:
    """The last argument, with the parentheses it may be written in, which `ast` does not show."""
    lines = file.lines
    line, column = last.end_lineno or 1, last.end_col_offset or 0
    end = (call.end_lineno or 1, (call.end_col_offset or 1) - 1)
    encoded = [text.encode() for text in lines[line - 1 : end[0]]]
    here, offset = line, column
    while (here, offset) < end:
        rest = encoded[here - line]
        if offset >= len(rest) or rest[offset : offset + 1] == b"#":
            here, offset = here + 1, 0
            continue
        if rest[offset : offset + 1] == b")":
            line, column = here, offset + 1
        elif rest[offset : offset + 1] == b",":
            break
        offset += 1
    moved = ast.Constant(None)
    moved.lineno, moved.col_offset, moved.end_lineno, moved.end_col_offset = line, column, line, column
    return moved
