"""Where in the source an instruction stands, to the column. Python 3.10 does not tell; there it is found by counting,
since the calls and operations of a statement are compiled in the order in which they are evaluated."""

from __future__ import annotations

import ast
import dis
import itertools
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

_Root = ast.expr | ast.stmt
_Head = tuple[int, int, list[_Root]]


class Span(NamedTuple):
    """Lines are counted from 1, columns from 0 and in bytes, as Python does."""

    line: int
    end_line: int
    column: int
    end_column: int


def span_of(code: CodeType, instruction: int) -> Span | None:
    """The expression that an instruction computes, or None where that cannot be known."""
    if not hasattr(code, "co_positions"):
        return counted_span(code, instruction)
    told = next(itertools.islice(code.co_positions(), instruction // 2, None), (None, None, None, None))
    start, end, column, end_column = told
    if start is None or end is None or column is None or end_column is None:
        return None
    return Span(start, end, column, end_column)


@lru_cache(maxsize=4096)
def counted_span(code: CodeType, instruction: int) -> Span | None:
    """Found without Python's own positions. Where the counts do not agree, nothing is claimed."""
    known = _instructions(code)
    kind, line = known.get(instruction, ("", 0))
    header = _header(code.co_filename, line) if kind and _is_plain(code) else None
    if header is None:
        return None
    first, last, roots = header
    same = [at for at, (other, where) in known.items() if other == kind and first <= where <= last]
    nodes = [node for root in roots for node in _evaluated(root) if _kind_of(node) == kind]
    # What is in a `finally` or the test of a `while` is compiled several times.
    if not nodes or len(same) % len(nodes):
        return None
    node = nodes[same.index(instruction) % len(nodes)]
    return Span(node.lineno, node.end_lineno or node.lineno, node.col_offset, node.end_col_offset or 0)


def _is_plain(code: CodeType) -> bool:
    """Lambdas and comprehensions share their line with the statement around them."""
    return code.co_name == "<module>" or not code.co_name.startswith("<")


@lru_cache(maxsize=256)
def _instructions(code: CodeType) -> dict[int, tuple[str, int]]:
    """The calls and operations of a code object: their kinds and lines, by where they are."""
    lines = {at: line for start, end, line in code.co_lines() if line for at in range(start, end, 2)}
    found = {one.offset: (_kind(one.opname), lines.get(one.offset, 0)) for one in dis.get_instructions(code)}
    return {at: told for at, told in found.items() if told[0]}


def _kind(opname: str) -> str:
    if opname.startswith("CALL_INTRINSIC"):
        return ""
    if opname.startswith("CALL"):
        return "call"
    if opname.startswith(("BINARY_SUBSCR", "BINARY_SLICE")):
        return "subscript"
    if opname.startswith(("BINARY_", "INPLACE_")):
        return "operation"
    return "unary" if opname in ("UNARY_NEGATIVE", "UNARY_POSITIVE", "UNARY_INVERT") else ""


def _kind_of(node: ast.AST) -> str:
    if isinstance(node, ast.Call | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return "call"
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return "operation"
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return "subscript"
    return "unary" if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not) else ""


@lru_cache(maxsize=4096)
def _header(filename: str, line: int) -> _Head | None:
    """The statement on a line, of a compound one its head: its first and last line, and what is evaluated there."""
    found = [part for part in _headers(filename) if part[0] <= line <= part[1]]
    return found[0] if len(found) == 1 else None


@lru_cache(maxsize=32)
def _headers(filename: str) -> list[_Head]:
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    heads: list[_Head] = []
    for statement in ast.walk(tree):
        if isinstance(statement, ast.stmt):
            roots: list[_Root] = [statement] if not hasattr(statement, "body") else _head(statement)
            if roots:
                first = min(root.lineno for root in roots)
                heads.append((first, max(root.end_lineno or first for root in roots), roots))
    return heads


def _head(statement: ast.stmt) -> list[_Root]:
    if isinstance(statement, ast.If | ast.While):
        return [statement.test]
    if isinstance(statement, ast.For | ast.AsyncFor):
        return [statement.iter]
    if isinstance(statement, ast.With | ast.AsyncWith):
        return [item.context_expr for item in statement.items]
    return []


def _evaluated(node: ast.AST) -> Iterator[_Root]:
    """A node and all below it in the order of evaluation; neither what is folded nor what has code of its own."""
    for child in _parts(node):
        yield from _evaluated(child)
    if isinstance(node, ast.expr | ast.stmt) and not _is_folded(node):
        yield node


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Lambda):
        yield from (default for default in (*node.args.defaults, *node.args.kw_defaults) if default is not None)
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        yield node.generators[0].iter
    elif isinstance(node, ast.Assign):
        yield from (node.value, *node.targets)
    elif isinstance(node, ast.Dict):
        pairs = itertools.chain.from_iterable(zip(node.keys, node.values, strict=True))
        yield from (one for one in pairs if one is not None)
    else:
        yield from ast.iter_child_nodes(node)


def _is_folded(node: ast.AST) -> bool:
    """Computed by the compiler: `-0.5`, `1 / 3`."""
    if isinstance(node, ast.UnaryOp):
        return _is_constant(node.operand)
    return isinstance(node, ast.BinOp) and _is_constant(node.left) and _is_constant(node.right)


def _is_constant(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) or _is_folded(node)
