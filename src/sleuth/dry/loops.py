"""The loops of the user's own source, compiled so that each ends once it has shown what it does.

Line and column of everything stay as they were: a traceback points into the file as it is."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import linecache
import time
from collections.abc import Iterable, Iterator
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import TYPE_CHECKING, Any

from sleuth.dry.pace import Pace, length
from sleuth.findings import Place
from sleuth.program import Program, is_users, place_at

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

# So few rounds are all run: the last of four epochs may do what no other does.
_SHORT = 4
_LONGEST_REST = 0.5
_FOR, _WHILE, _PACE = "__sleuth_rounds__", "__sleuth_again__", "__sleuth_pace__"


def instrumented(subject: Program, stage: Stage) -> Program:
    """The program with its loops, and those of its own modules when it imports them, under our pace."""
    stage.patches.set(builtins, _FOR, lambda iterable, file, line: _rounds(stage, iterable, file, line))
    stage.patches.set(builtins, _PACE, lambda: Pace(stage))
    stage.patches.set(builtins, _WHILE, lambda *given: _again(stage, *given))
    plain = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
        path = loader.get_filename(fullname)
        if not is_users(path):
            return plain(loader, fullname)
        return compiled(loader.get_data(path), path)

    stage.patches.set(SourceFileLoader, "get_code", get_code)
    linecache.checkcache()  # it may have been edited since an earlier rehearsal
    source = "".join(linecache.getlines(subject.path))
    return dataclasses.replace(subject, code=compiled(source, subject.path)) if source else subject


def compiled(source: str | bytes, path: str) -> CodeType:
    tree = _Paced(path).visit(ast.parse(source, path))
    return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


class _Paced(ast.NodeTransformer):
    def __init__(self, path: str) -> None:
        self.path = path
        self.count = 0

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        if not _hands_out(node.body):
            given = [node.iter, ast.Constant(self.path), ast.Constant(node.lineno)]
            call = ast.Call(ast.Name(_FOR, ast.Load()), given, [])
            node.iter = _located(call, node.iter)
        return node

    def visit_While(self, node: ast.While) -> Any:
        self.generic_visit(node)
        if _hands_out(node.body):
            return node
        self.count += 1
        name = f"__sleuth_pace_{self.count}"
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value) and not _has_break(node.body)
        given = [
            node.test,
            ast.Name(name, ast.Load()),
            ast.Constant(endless),
            ast.Constant(self.path),
            ast.Constant(node.lineno),
        ]
        made = ast.Call(ast.Name(_PACE, ast.Load()), [], [])
        before = ast.Assign([ast.Name(name, ast.Store())], made)
        node.test = _located(ast.Call(ast.Name(_WHILE, ast.Load()), given, []), node.test)
        return [_located(before, node), node]


def _located(new: Any, old: ast.AST) -> Any:
    """The new nodes where the old one was; parts that have a place of their own keep it."""
    for part in ast.walk(new):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, old)
    return new


def _hands_out(body: list[ast.stmt]) -> bool:
    """A generator: whoever asks it decides how often."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for one in body for node in _own(one))


def _has_break(body: list[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Break | ast.Return) for one in body for node in _own(one))


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is inside, but for functions of their own."""
    yield node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
        for child in ast.iter_child_nodes(node):
            yield from _own(child)


def _rounds(stage: Stage, iterable: Iterable[Any], file: str, line: int) -> Iterator[Any]:
    """The items until the loop has shown what it does; of a sequence also the last."""
    pace = Pace(stage)
    total = length(iterable)
    is_short = total is not None and total <= _SHORT
    for item in iterable:
        yield item
        pace.round_done()
        if pace.enough() and not pace.dealt_by_a_loader and not (is_short and not pace.late):
            break
    else:
        return
    _use_up(iterable)
    if total is not None and pace.rounds >= total:
        return
    stage.shortened |= set() if total is None else {total}
    if total is not None and isinstance(iterable, range | list | tuple):
        stage.journal.assume(_header(file, line), f"loop: {pace.rounds} rounds and the last of {total:,}")
        yield iterable[-1]
    else:
        of = "" if total is None else f" of {total:,}"
        stage.journal.assume(_header(file, line), f"loop: {pace.rounds} rounds{of}")


def _use_up(iterable: Iterable[Any]) -> None:
    """An iterator that can be gone through once is at its end after the loop: the next epoch finds nothing in it."""
    if not isinstance(iterable, Iterator):
        return
    until = time.monotonic() + _LONGEST_REST
    for _ in iterable:
        if time.monotonic() > until:
            return


def _again(stage: Stage, wanted: Any, pace: Pace, endless: bool, file: str, line: int) -> Any:
    if not wanted:
        return wanted
    if not hasattr(pace, "started"):
        pace.started = True  # type: ignore[attr-defined]
        return wanted
    pace.round_done()
    if not pace.enough():
        return wanted
    stage.journal.assume(_header(file, line), f"loop: {pace.rounds} rounds")
    if endless:
        from sleuth.dry.stage import Enough

        raise Enough
    return False


def _header(file: str, line: int) -> Place:
    return place_at(file, line)
