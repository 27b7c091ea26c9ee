"""Putting an edited file in force in a process that is running the old one: functions get the code they would have, and
frames that stand in the old code run the edited statements instead of theirs.

Only for a process that will not live on. An edit keeps every line where it was."""

from __future__ import annotations

import ast
import gc
import linecache
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from types import CodeType, FrameType, FunctionType
from typing import Any

from sleuth.live.rewind import own_nodes, owner_of
from sleuth.live.snapshot import is_a

# What cannot be run anywhere but in its own frame.
_BOUND_TO_FRAME = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class CannotEdit(Exception):
    """The running code cannot be given this form."""


@dataclass(frozen=True, slots=True)
class Instead:
    """A statement to run in the place of the one on these lines, and the line to go on at."""

    first: int
    last: int
    code: CodeType
    then: int


class InForce:
    """An edited file. `resume` is to be called when a frame has been sent to another line; `failed` is called where an
    edited statement raises an error."""

    def __init__(self, filename: str, text: str, failed: Callable[[object], object]) -> None:
        self._failed = failed
        before = linecache.getlines(filename)
        after = text.splitlines(keepends=True)
        self._filename = filename
        self._tree = ast.parse(text)
        self._changed = {number for number, (a, b) in enumerate(zip(before, after, strict=True), 1) if a != b}
        self._code = compile(text, filename, "exec", dont_inherit=True)
        self._frames: dict[int, tuple[FrameType, list[Instead]]] = {}
        linecache.cache[filename] = (len(text), None, after, filename)

    def put(self, frame: FrameType | None) -> None:
        """`frame` is the innermost that is to go on."""
        self._change_functions()
        while frame is not None:
            if frame.f_code.co_filename == self._filename:
                owner = owner_of(self._tree, frame)
                instead = list(self._instead(getattr(owner, "body", []), None))
                if instead:
                    self._frames[id(frame)] = frame, instead
                    frame.f_trace = self._local
            frame = frame.f_back
        if self._frames and sys.gettrace() is None:
            sys.settrace(lambda *arguments: None)

    def _change_functions(self) -> None:
        new: dict[tuple[str, int], list[CodeType]] = {}
        for code in _codes(self._code):
            if self._changed & {line for _, _, line in code.co_lines()}:
                new.setdefault(_key(code), []).append(code)
        for thing in gc.get_objects():
            if not is_a(thing, FunctionType) or thing.__code__.co_filename != self._filename:
                continue
            codes = new.get(_key(thing.__code__), [])
            if len(codes) > 1 or any(code.co_freevars != thing.__code__.co_freevars for code in codes):
                raise CannotEdit(f"which function {thing.__qualname__} is in the edited file is not clear")
            for code in codes:
                thing.__code__ = code

    def _instead(self, block: list[ast.stmt], after: int | None) -> Iterator[Instead]:
        """The smallest statements that hold a change and have one after them to go on at."""
        for statement, following in zip_longest(block, block[1:]):
            first, last = statement.lineno, statement.end_lineno or statement.lineno
            if isinstance(statement, _DEFINES) or not self._changed & set(range(first, last + 1)):
                continue
            then = following.lineno if following is not None else after
            blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
            if isinstance(statement, ast.For | ast.While | ast.If):
                # The end of a branch is followed by what follows the branches; that of a loop by its next round.
                onwards = then if isinstance(statement, ast.If) else None
                for inner in blocks:
                    yield from self._instead(inner, onwards)
                continue
            inside = self._inside(blocks[0]) if isinstance(statement, ast.With) else []
            yield from inside or [self._whole(statement, then)]

    def _inside(self, block: list[ast.stmt]) -> list[Instead]:
        """The statements in a block that has a way out of its own; none where its last one is among them."""
        try:
            return list(self._instead(block, None))
        except CannotEdit:
            return []

    def _whole(self, statement: ast.stmt, then: int | None) -> Instead:
        if then is None or any(isinstance(node, _BOUND_TO_FRAME) for node in own_nodes(statement)):
            raise CannotEdit("the statement cannot be run outside its frame")
        code = compile(ast.Module([statement], []), self._filename, "exec", dont_inherit=True)
        return Instead(statement.lineno, statement.end_lineno or statement.lineno, code, then)

    def _local(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.resume(frame)
        return self._local

    def resume(self, frame: FrameType | None = None) -> None:
        """If the frame stands at an edited statement, run that and go on behind it. Called inside a trace function."""
        for one, instead in list(self._frames.values()):
            if frame is None or one is frame:
                try:
                    self._run(one, instead)
                except Exception as error:
                    self._failed(error)

    def _run(self, frame: FrameType, instead: list[Instead]) -> None:
        line, found = frame.f_lineno, True
        names: dict[str, Any] = {}
        while found:
            found = False
            for one in instead:
                if one.first <= line <= one.last:
                    names |= _executed(one.code, frame, names)
                    line, found = one.then, True
        if line != frame.f_lineno:
            frame.f_lineno = line  # type: ignore[misc]
            if frame.f_locals is not frame.f_globals:
                frame.f_locals.update(names)


def _executed(code: CodeType, frame: FrameType, names: dict[str, Any]) -> dict[str, Any]:
    """Run it with the frame's variables, and give back those of a function that it has set."""
    if frame.f_locals is frame.f_globals:
        exec(code, frame.f_globals)
        return {}
    before = {**frame.f_globals, **frame.f_locals, **names}
    space = dict(before)
    exec(code, space)
    return {name: value for name, value in space.items() if name not in before or before[name] is not value}


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno
