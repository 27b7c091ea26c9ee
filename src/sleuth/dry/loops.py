"""The loops of the user's own source, compiled so that each ends once it has shown what it does.

Line and column of everything stay as they were: a traceback points into the file as it is."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import linecache
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import decode_source
from types import CodeType
from typing import TYPE_CHECKING, Any

from sleuth import editing
from sleuth.dry.pace import Pace, length
from sleuth.findings import Place
from sleuth.program import Program, is_users, place_at, shown_path

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

# So few rounds are all run: the last of four epochs may do what no other does.
_SHORT = 4
_LONGEST_REST = 0.5
_FOR, _WHILE, _PACE = "__sleuth_rounds__", "__sleuth_again__", "__sleuth_pace__"
_IMPORTED = "__sleuth_imported__"
# What a program may do between its imports without looking at files or data.
_SETTINGS = ("os.environ", "warnings", "logging", "sys.path", "matplotlib")


def instrumented(subject: Program, stage: Stage, imported: Callable[[], None] = lambda: None) -> Program:
    """The program with its loops, and those of its own modules when it imports them, under our pace.

    `imported` is called where the imports at the top of the program are done."""
    stage.patches.set(builtins, _IMPORTED, imported)
    stage.patches.set(builtins, _FOR, lambda iterable, file, line: _rounds(stage, iterable, file, line))
    stage.patches.set(builtins, _PACE, lambda: Pace(stage))
    stage.patches.set(builtins, _WHILE, lambda *given: _again(stage, *given))
    plain = SourceFileLoader.get_code
    is_users(subject.path)  # now: to know Python's own folders it imports a module, and must not be asked about that

    def get_code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
        path = loader.get_filename(fullname)
        if not is_users(path):
            return plain(loader, fullname)
        return compiled(_edited(loader.get_data(path), path, stage), path)

    stage.patches.set(SourceFileLoader, "get_code", get_code)
    linecache.checkcache()  # it may have been edited since an earlier rehearsal
    source = _edited("".join(linecache.getlines(subject.path)), subject.path, stage)
    return dataclasses.replace(subject, code=compiled(source, subject.path, is_main=True)) if source else subject


def _edited(source: str | bytes, path: str, stage: Stage) -> str | bytes:
    """The source with those edits made that the scenario tries."""
    edits = [edit for edit in stage.scenario.edits if edit.path == shown_path(path)]
    if not edits:
        return source
    text = decode_source(source) if isinstance(source, bytes) else source
    made = editing.apply(text, edits)
    if made is None:
        return source
    linecache.cache[path] = (len(made), None, made.splitlines(keepends=True), path)  # a crash is told by these lines
    return made


def compiled(source: str | bytes, path: str, is_main: bool = False) -> CodeType:
    tree = _Paced(path).visit(ast.parse(source, path))
    top = _imports(tree.body) if is_main else 0
    if top:
        call = ast.Expr(ast.Call(ast.Name(_IMPORTED, ast.Load()), [], []))
        tree.body.insert(top, _located(call, tree.body[top - 1]))
    return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


def _imports(body: list[ast.stmt]) -> int:
    """How many statements at the top are imports, and what settles them."""
    last = 0
    for number, node in enumerate(body, 1):
        if isinstance(node, ast.Import | ast.ImportFrom) or _tries_to_import(node):
            last = number
        elif not _settles(node):
            break
    return last


def _tries_to_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Try) and all(isinstance(one, ast.Import | ast.ImportFrom) for one in node.body)


def _settles(node: ast.stmt) -> bool:
    """A docstring, a constant, an environment variable, a filter of warnings."""
    if isinstance(node, ast.Assign):
        return isinstance(node.value, ast.Constant) or ast.unparse(node.targets[0]).startswith(_SETTINGS)
    if not isinstance(node, ast.Expr):
        return False
    return isinstance(node.value, ast.Constant) or ast.unparse(node.value).startswith(_SETTINGS)


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
