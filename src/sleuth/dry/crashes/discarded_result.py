"""`x.to(device)` as a statement: it makes a copy there, and nobody keeps it."""

from __future__ import annotations

import ast

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _edits, _scene
from sleuth.dry.crashes._stray import Stray, stray
from sleuth.dry.crashes._told import told
from sleuth.findings import Edit, Finding, Fix, Link
from sleuth.program import place_at, shown_path

REFINES = ("batch_left_on_cpu", "device_mismatch", "tensor_on_cpu_in_forward", "tensor_attribute_not_buffer")
_MOVES = {"to", "cuda"}


def explain(crash: Crash) -> Finding | None:
    found = stray(crash)
    if found is None or found.spelling is None or found.birth.device != "cpu":
        return None
    statement = _thrown_away(found)
    if statement is None:
        return None
    filename = found.spelling.spot.code.co_filename
    place = place_at(filename, statement.lineno)
    text = found.spelling.text
    return told(
        "discarded-result",
        crash,
        place=place,
        title=f"the copy of {text} on {found.wanted} is thrown away, {text} itself stays on the CPU",
        evidence=found.evidence,
        chain=[*found.chain, Link(f"here {text} is used on the CPU", crash.place)],
        fixes=[Fix(f"{text} = {ast.unparse(statement.value)}", (_kept(filename, statement, text),))],
    )


def _thrown_away(found: Stray) -> ast.Expr | None:
    """The statement, in the same function and before the crash, that moved it and kept nothing."""
    if found.spelling is None:
        return None
    code, line = found.spelling.spot.code, found.spelling.spot.frame.f_lineno
    around = _scene.function_around(code.co_filename, line) or _scene.parsed(code.co_filename)
    for node in ast.walk(around) if around is not None else ():
        if not isinstance(node, ast.Expr) or node.lineno > line or not isinstance(node.value, ast.Call):
            continue
        moved = node.value.func
        if (
            isinstance(moved, ast.Attribute)
            and moved.attr in _MOVES
            and ast.unparse(moved.value) == found.spelling.text
        ):
            return node
    return None


def _kept(filename: str, statement: ast.Expr, text: str) -> Edit:
    at = _edits.replaced(filename, statement.value, "")
    return Edit(shown_path(filename), at.line, at.column, at.line, at.column, f"{text} = ")
