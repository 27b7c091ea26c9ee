"""What could mend a birth: its check's rewrites, made at the user's expression."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from sleuth import editing
from sleuth.findings import Edit
from sleuth.live.births import Rewrite
from sleuth.live.mending import expressions
from sleuth.live.mending.expressions import Source
from sleuth.live.trace import Op

_SAME_EVERY_TIME = {"abs", "isfinite", "isnan", "bool", "logical_not", "eq", "ne", "gt", "ge", "lt", "le", "sum", "any"}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A file as it would be with one rewrite made. `fix` is the place of the sentence that says the same in general."""

    title: str
    filename: str
    text: str
    fix: int


def proposals(op: Op, rewrites: tuple[Rewrite, ...]) -> list[Proposal]:
    """`op` is the operation of the forward pass. None where it is called by a library, or in a way we cannot read."""
    if op.code is None or op.name.endswith("_"):
        return []
    source = expressions.read(op.code.co_filename)
    if source is None:
        return []
    node = expressions.called(source, op.code, op.instruction, {op.name, *filter(None, [op.called])})
    return [] if node is None else list(_made(source, node, rewrites))


def _made(source: Source, node: ast.expr, rewrites: tuple[Rewrite, ...]) -> Iterator[Proposal]:
    for rewrite in rewrites:
        edit = _edit(source, node, rewrite)
        text = _edited(source, edit) if edit is not None else None
        if text is not None:
            yield Proposal(rewrite.title, source.filename, text, rewrite.fix)


def _edit(source: Source, node: ast.expr, rewrite: Rewrite) -> Edit | None:
    if rewrite.keyword:
        return expressions.with_keyword(source, node, rewrite.keyword)
    part = expressions.operand(source, node, rewrite.operand)
    form = _form(source, node, rewrite)
    return None if part is None or form is None else expressions.with_operand(source, node, part, form)


def _edited(source: Source, edit: Edit) -> str | None:
    text = editing.apply(source.text, [edit])
    # Whoever runs the step again finds its lines where they were.
    return text if text is not None and text.count("\n") == source.text.count("\n") else None


def _form(source: Source, node: ast.expr, rewrite: Rewrite) -> str | None:
    """The form with the condition filled in that another operation, which hides the bad values, decides by."""
    chooser = rewrite.chooser
    if chooser is None:
        return rewrite.form
    if chooser.code is None or chooser.code.co_filename != source.filename:
        return None
    hiding = expressions.called(source, chooser.code, chooser.instruction, {chooser.name, chooser.plain_name})
    condition = expressions.operand(source, hiding, rewrite.condition) if hiding is not None else None
    if hiding is None or condition is None or not _known_at(source, condition, node, hiding):
        return None
    return rewrite.form.replace("{ok}", source.of(condition))


def _known_at(source: Source, condition: ast.expr, node: ast.expr, hiding: ast.expr) -> bool:
    """Does the condition mean the same where the operation is as where it is written? No name of it may be given a
    value between the two, and it may call only what gives the same every time."""
    if any(isinstance(part, ast.NamedExpr | ast.Await) or _may_vary(part) for part in ast.walk(condition)):
        return False
    names = {part.id for part in ast.walk(condition) if isinstance(part, ast.Name)}
    first, last = sorted((node.lineno, hiding.lineno))
    if _owner(source.tree, node) is not _owner(source.tree, hiding):
        return False
    return not any(
        isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id in names
        for part in ast.walk(source.tree)
        if first <= getattr(part, "lineno", 0) < last
    )


def _may_vary(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    return (node.func.attr if isinstance(node.func, ast.Attribute) else "") not in _SAME_EVERY_TIME


def _owner(tree: ast.Module, node: ast.expr) -> ast.AST:
    """The innermost function around an expression, or the module."""
    around = [
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        and any(part is node for part in ast.walk(one))
    ]
    return max(around, key=lambda one: (one.lineno, one.col_offset), default=tree)
