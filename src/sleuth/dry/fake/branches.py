"""Which way a condition on unknown numbers goes: the way on which the program goes on."""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Sequence
from types import FrameType

import torch

from sleuth.dry.fake import statements
from sleuth.positions import span_of
from sleuth.program import line_of

# A loop that runs while numbers say so is left when it has asked this often; so is any other side of an `if` looked at.
ASKED_ENOUGH = 3
# Nearly every loop that waits for a number to grow, shrink or vanish ends with one of these.
_OTHERS = (0, 10**9, -(10**9))
_BAD_SIGN = re.compile(r"nan|(?:^|[^a-z])inf(?:[^a-z]|$)|overflow|diverge", re.IGNORECASE)
_END_SIGN = re.compile(r"finish|done|stop|converge|terminat", re.IGNORECASE)
_TORCH = os.path.dirname(torch.__file__) + os.sep
# Where torch itself turns a tensor into a number: the question is asked further out.
_PASSES_ON = tuple(
    _TORCH + os.path.join(*name.split("/"))
    for name in """_tensor.py overrides.py _ops.py _compile.py functional.py utils/_python_dispatch.py utils/_device.py
    utils/_contextlib.py _subclasses _dynamo""".split()
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
        return wanted != (may_change and self._turn(asking) % 2 == 1)

    def number(self, frame: FrameType | None, usual: float) -> float:
        """A number that this frame asks for: the usual one, and others where a loop ends by it."""
        asking = asking_frame(frame)
        if asking is None:
            return usual
        found = statements.at(asking.f_code.co_filename, line_of(asking.f_code, asking.f_lasti))
        if found is None or not statements.ends_a_loop(found):
            return usual
        return (usual, *_OTHERS)[self._turn(asking) % (1 + len(_OTHERS))]

    def _turn(self, frame: FrameType) -> int:
        """How often this place has asked enough."""
        key = (frame.f_code.co_filename, frame.f_code.co_firstlineno, frame.f_lasti)
        self._asked[key] += 1
        return (self._asked[key] - 1) // ASKED_ENOUGH


def asking_frame(frame: FrameType | None) -> FrameType | None:
    """The frame of the program, or of a library, that wants to know."""
    while frame is not None and (frame.f_code.co_filename.startswith(_PASSES_ON)):
        frame = frame.f_back
    return frame


def _wanted(frame: FrameType, otherwise: bool) -> tuple[bool, bool]:
    """The truth that lets the program go on, and whether the other one would, too."""
    line = line_of(frame.f_code, frame.f_lasti)
    found = statements.at(frame.f_code.co_filename, line)
    if found is None:
        return otherwise, True
    statement = found.node
    text = ast.unparse(statements.test_of(statement) or statement)
    if isinstance(statement, ast.Assert):
        return _for(statement.test, True, frame), False
    if isinstance(statement, ast.While):
        return _for(statement.test, True, frame), True
    if isinstance(statement, ast.If):
        yes = _harm(statement.body)
        # What follows comes after both sides, unless the first one leaves.
        no = _harm(statement.orelse or (found.after if yes else ()))
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


def _for(test: ast.expr, wanted: bool, frame: FrameType) -> bool:
    """What the part of the condition that is being asked must be for the whole to be as wanted."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _for(test.operand, not wanted, frame)
    if isinstance(test, ast.BoolOp):
        return _for(_asked_part(test.values, frame), wanted, frame)
    return wanted


def _asked_part(parts: list[ast.expr], frame: FrameType) -> ast.expr:
    asked = span_of(frame.f_code, frame.f_lasti)
    if asked is not None:
        at = (asked.line, asked.column)
        for part in parts:
            if (part.lineno, part.col_offset) <= at <= (part.end_lineno or 0, part.end_col_offset or 0):
                return part
    return parts[0]
