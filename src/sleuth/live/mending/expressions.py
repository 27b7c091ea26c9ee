"""The expression of the user's source that an operation was called by, and its operands."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice
from types import CodeType

from sleuth.findings import Edit

_ALIASES = {"arccos": "acos", "arcsin": "asin", "arccosh": "acosh", "arctanh": "atanh"}
_ALIASES |= {"divide": "div", "true_divide": "div"}
# The operators that are rewritten, with what torch calls them.
_OPERATORS: dict[type[ast.operator], frozenset[str]] = {
    ast.Div: frozenset({"div", "reciprocal"}),
    ast.Pow: frozenset({"pow"}),
}
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the user's, as it is in force."""

    filename: str
    text: str
    tree: ast.Module

    def of(self, node: ast.expr) -> str:
        return ast.get_source_segment(self.text, node) or ""

    def replaced(self, node: ast.expr, new: str) -> Edit:
        """The edit that writes something else in the place of this expression."""
        end_line = node.end_lineno or node.lineno
        return Edit(
            self.filename,
            node.lineno,
            self._column(node.lineno, node.col_offset),
            end_line,
            self._column(end_line, node.end_col_offset or 0),
            new,
        )

    def _column(self, line: int, offset: int) -> int:
        """Python counts the bytes of a line, an edit its characters."""
        return len(self.text.split("\n")[line - 1].encode()[:offset].decode(errors="replace")) + 1

    def is_imported(self, name: str) -> bool:
        return any(
            (alias.asname or alias.name.split(".")[0]) == name
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        )


def read(filename: str) -> Source | None:
    text = "".join(linecache.getlines(filename))
    try:
        return Source(filename, text, ast.parse(text)) if text else None
    except SyntaxError:
        return None


def called(source: Source, code: CodeType, instruction: int, names: Collection[str]) -> ast.expr | None:
    """The expression by which this instruction called one of these operations. Where Python keeps no columns (before
    3.11), it must be the only one on its line."""
    fitting = [node for node in ast.walk(source.tree) if isinstance(node, ast.expr) and _is_called(node, names)]
    if sys.version_info < (3, 11):
        from sleuth.program import line_of

        line = line_of(code, instruction)
        on_line = [node for node in fitting if node.lineno <= line <= (node.end_lineno or node.lineno)]
        return on_line[0] if len(on_line) == 1 else None
    _, end, _, end_column = next(islice(code.co_positions(), instruction // 2, None), (None,) * 4)
    ending = [node for node in fitting if (node.end_lineno, node.end_col_offset) == (end, end_column)]
    # A chain of calls over several lines begins, for Python, at its last name; the innermost is the one.
    return max(ending, key=lambda node: (node.lineno, node.col_offset), default=None)


def _is_called(node: ast.expr, names: Collection[str]) -> bool:
    if isinstance(node, ast.BinOp):
        return bool(_OPERATORS.get(type(node.op), frozenset()) & set(names))
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return _ALIASES.get(name, name) in names


def operand(source: Source, node: ast.expr, index: int) -> ast.expr | None:
    """What is written for an operand: of a division the divisor, of a power its base."""
    if isinstance(node, ast.BinOp):
        return node.right if isinstance(node.op, ast.Div) else node.left
    if not isinstance(node, ast.Call):
        return None
    given = list(node.args)
    if isinstance(node.func, ast.Attribute) and not source.is_imported(_root(node.func.value)):
        given.insert(0, node.func.value)
    if any(isinstance(one, ast.Starred) for one in given):
        return None
    return given[index] if index < len(given) else None


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def with_operand(source: Source, whole: ast.expr, part: ast.expr, form: str) -> Edit:
    """The edit that gives a part of an expression another form, `{}` standing for what is written now."""
    written = source.of(part)
    if form.startswith("{}.") and not isinstance(part, _ATOMS):
        written = f"({written})"
    new = form.replace("{}", written)
    is_argument = isinstance(whole, ast.Call) and any(part is one for one in whole.args)
    if form.startswith("{} ") and not is_argument:
        new = f"({new})"
    return source.replaced(part, new)


def with_keyword(source: Source, call: ast.expr, keyword: str) -> Edit | None:
    """The edit that gives a call, which ends in its parenthesis, an argument more."""
    if not isinstance(call, ast.Call):
        return None
    before = source.of(call)[:-1]
    return source.replaced(call, f"{before}{', ' if call.args or call.keywords else ''}{keyword})")
