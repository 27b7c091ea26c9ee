"""The call in the user's source that made a layer, and what would have to stand in it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _edits, _history, _scene
from sleuth.findings import Fix, Place
from sleuth.layer_source import maker_of_layer
from sleuth.program import is_users, place_of, shown_path


@dataclass(frozen=True, slots=True)
class Making:
    """`nn.Linear(1568, 10)` in this file. `call` is None where only the line is known."""

    filename: str
    call: ast.Call | None
    place: Place


def making(crash: Crash, module: Any) -> Making | None:
    """Where the layer was made: its weights know the line, and the model's class the assignment."""
    return _by_weights(crash, module) or _by_name(crash, module)


def _by_weights(crash: Crash, module: Any) -> Making | None:
    for weight in module.parameters(recurse=True):
        birth = crash.stage.births[weight]
        lines = [one for one in _history.line(birth) if one.code is not None] if birth is not None else []
        if not lines:
            continue
        code, instruction = lines[-1].code, lines[-1].instruction
        if code is None or not is_users(code.co_filename):
            continue
        node = _scene.expression(code, instruction)
        if isinstance(node, ast.Call) and _makes(node, module):
            return Making(code.co_filename, node, place_of(code, instruction))
    return None


def _by_name(crash: Crash, module: Any) -> Making | None:
    name = _scene.name_of(crash, module)
    for root in _scene.roots(crash) if name else ():
        found = maker_of_layer(root, name)
        if found is not None:
            filename, node = found
            call = node if isinstance(node, ast.Call) and _makes(node, module) else None
            return Making(filename, call, _place(filename, node))
    return None


def _makes(node: ast.Call, module: Any) -> bool:
    return ast.unparse(node.func).rpartition(".")[2] == type(module).__name__


def _place(filename: str, node: ast.expr) -> Place:
    code = " ".join(ast.unparse(node).split())
    return Place(shown_path(filename), node.lineno, node.col_offset + 1, node.end_lineno, code)


def with_argument(made: Making | None, position: int, keyword: str, value: int, title: str, product: str = "") -> Fix:
    """The fix that writes another number for one argument of the layer; for a product, the product."""
    node = None if made is None or made.call is None else argument(made.call, position, keyword)
    if made is None or node is None or not _is_a_number(node):
        return Fix(title)
    text = product if product and isinstance(node, ast.BinOp) else str(value)
    return Fix(title, (_edits.replaced(made.filename, node, text),))


def argument(call: ast.Call, position: int, keyword: str) -> ast.expr | None:
    if any(isinstance(one, ast.Starred) for one in call.args[: position + 1]):
        return None
    if position < len(call.args):
        return call.args[position]
    return next((one.value for one in call.keywords if one.arg == keyword), None)


def _is_a_number(node: ast.expr) -> bool:
    """Is it written out, e.g. `1568` or `32 * 7 * 7`? A name means the same number elsewhere, too."""
    if isinstance(node, ast.BinOp):
        return _is_a_number(node.left) and _is_a_number(node.right)
    return isinstance(node, ast.Constant) and isinstance(node.value, int)
