"""Which way a condition on unknown numbers goes: the way on which the program goes on."""

from __future__ import annotations

import ast
import linecache
import os
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from types import FrameType

import torch

from sleuth.program import line_of

# A loop that runs while numbers say so is left when it has asked this often; so is any other side of an `if` looked at.
ASKED_ENOUGH = 3
_BAD_SIGN = re.compile(r"nan|(?:^|[^a-z])inf(?:[^a-z]|$)|overflow|diverge", re.IGNORECASE)
_END_SIGN = re.compile(r"finish|done|stop|converge|terminat", re.IGNORECASE)
_TORCH = os.path.dirname(torch.__file__) + os.sep
# Where torch itself turns a tensor into a number: the question is asked further out.
_PASSES_ON = tuple(
    _TORCH + name for name in ("_tensor.py", "overrides.py", "_ops.py", "functional.py", "utils/_", "_subclasses", "_C")
)
_PASSES_ON += (os.path.dirname(os.path.dirname(__file__)) + os.sep,)
_ALWAYS_WELL = _TORCH + "testing"


class Branches:
    """Remembers how often each line has asked."""

    def __init__(self) -> None:
        self._asked: Counter[tuple[str, int, int]] = Counter()

    def decide(self, frame: FrameType | None, otherwise: bool) -> bool:
        """The truth of a condition that this frame asks for; `otherwise` where the line does not tell."""
        asking = asking_frame(frame)
        if asking is None:
            return otherwise
        if asking.f_code.co_filename.startswith(_ALWAYS_WELL):
            return True
        wanted, may_change = _wanted(asking, otherwise)
        key = (asking.f_code.co_filename, asking.f_code.co_firstlineno, asking.f_lasti)
        turn = self._asked[key] // ASKED_ENOUGH
        self._asked[key] += 1
        return wanted != (may_change and turn % 2 == 1)


def asking_frame(frame: FrameType | None) -> FrameType | None:
    """The frame of the program, or of a library, that wants to know."""
    while frame is not None and (frame.f_code.co_filename.startswith(_PASSES_ON)):
        frame = frame.f_back
    return frame


def _wanted(frame: FrameType, otherwise: bool) -> tuple[bool, bool]:
    """The truth that lets the program go on, and whether the other one would, too."""
    line = line_of(frame.f_code, frame.f_lasti)
    found = _statement(frame.f_code.co_filename, line)
    if found is None:
        return otherwise, True
    statement, after = found
    text = ast.unparse(_test(statement) or statement)
    if isinstance(statement, ast.Assert):
        return _for(statement.test, True, frame), False
    if isinstance(statement, ast.While):
        return _for(statement.test, True, frame), True
    if isinstance(statement, ast.If):
        yes, no = _harm(statement.body), _harm(statement.orelse or after)
        if max(yes, no) == 0 and _BAD_SIGN.search(text):
            return _for(statement.test, False, frame), False
        fatal = max(yes, no) >= _FATAL
        return _for(statement.test, yes < no or yes == no == 0, frame), not fatal
    if _BAD_SIGN.search(text) and "isfinite" not in text:
        return False, False
    return otherwise and not _END_SIGN.search(f"{frame.f_code.co_name} {text}"), True


_FATAL = 2
_LEAVING = (ast.Break, ast.Continue, ast.Return)
_ENDING = re.compile(r"^(?:sys\.exit|exit|quit|os\._exit|pytest\.fail|self\.fail)\b")


def _harm(body: Sequence[ast.stmt]) -> int:
    """2 where these statements raise or end the program, 1 where they leave what is being done, 0 otherwise."""
    for statement in body:
        if isinstance(statement, ast.Raise):
            return _FATAL
        if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Constant) and not statement.test.value:
            return _FATAL
        if isinstance(statement, ast.Expr) and _ENDING.match(ast.unparse(statement)):
            return _FATAL
        if isinstance(statement, _LEAVING):
            return 1
    return 0


def _test(statement: ast.stmt) -> ast.expr | None:
    return statement.test if isinstance(statement, (ast.If, ast.While, ast.Assert)) else None


def _for(test: ast.expr, wanted: bool, frame: FrameType) -> bool:
    """What the part of the condition that is being asked must be for the whole to be as wanted."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _for(test.operand, not wanted, frame)
    if isinstance(test, ast.BoolOp):
        return _for(_asked_part(test.values, frame), wanted, frame)
    return wanted


def _asked_part(parts: list[ast.expr], frame: FrameType) -> ast.expr:
    if hasattr(frame.f_code, "co_positions"):
        positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
        line, _, column, _ = positions
        if line is not None and column is not None:
            for part in parts:
                if (part.lineno, part.col_offset) <= (line, column) <= (part.end_lineno or 0, part.end_col_offset or 0):
                    return part
    return parts[0]


@cache
def _statements(filename: str) -> dict[int, tuple[ast.stmt, Sequence[ast.stmt]]]:
    """For each line the innermost statement whose own text stands on it, and those that follow it."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError):
        return {}
    found: dict[int, tuple[ast.stmt, Sequence[ast.stmt]]] = {}

    def visit(body: Sequence[ast.stmt]) -> None:
        for number, statement in enumerate(body):
            for field in ("body", "orelse", "finalbody"):
                visit(getattr(statement, field, []))
            for part in (*getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
                visit(part.body)
            # Last, so that `if x: raise` on one line is the `if`.
            for line in range(statement.lineno, _last_line(statement) + 1):
                found[line] = statement, body[number + 1 :]

    visit(tree.body)
    return found


def _last_line(statement: ast.stmt) -> int:
    """The last line of the statement itself, without those that stand in it."""
    test = _test(statement)
    if test is not None:
        return test.end_lineno or statement.lineno
    inner: list[ast.stmt] = getattr(statement, "body", [])
    if inner:
        return max(statement.lineno, inner[0].lineno - 1)
    return statement.end_lineno or statement.lineno


def _statement(filename: str, line: int) -> tuple[ast.stmt, Sequence[ast.stmt]] | None:
    return _statements(filename).get(line)
