"""Run an iteration of the user's loop once more where no DataLoader can deal its batch again.

The loop's variables still hold the batch when the step has gone wrong. Python lets a trace function move a frame to
another line (this is how a debugger's `jump` works), so the frame is sent back to the first line of the loop's body."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from types import CodeType, FrameType
from typing import Any

from sleuth.findings import Place
from sleuth.program import is_users, line_of, place_of, users_frame

# Methods that give the same result when applied to their own result, so `x = x.to(device)` may run twice.
_IDEMPOTENT = {
    "to",
    "cuda",
    "cpu",
    "float",
    "double",
    "half",
    "long",
    "view",
    "reshape",
    "contiguous",
    "requires_grad_",
}

Loop = ast.For | ast.While


@dataclass(frozen=True, slots=True)
class Site:
    """The frames at a call, innermost first, as identity, code and instruction. It holds no frame, so it keeps none of
    the program's tensors alive; and it is cheap, since it is taken at every backward pass."""

    frames: tuple[tuple[int, CodeType, int], ...]
    # Where the loss was computed, if the user's innermost line is merely the call of a library that does everything.
    loss: Place | None = None

    def users(self) -> list[tuple[int, int]]:
        """The user's frames among them, innermost first, each by its identity and line."""
        return [(which, line_of(code, at)) for which, code, at in self.frames if is_users(code.co_filename)]

    @property
    def place(self) -> Place | None:
        """Where the user's innermost frame stood, or what says more."""
        return self.loss or (place_of(*self.line) if self.line is not None else None)

    @property
    def line(self) -> tuple[CodeType, int] | None:
        """The user's innermost frame, as code and instruction."""
        return next(((code, at) for _, code, at in self.frames if is_users(code.co_filename)), None)

    def stood(self, frame: FrameType) -> tuple[CodeType, int] | None:
        """Where this frame stood, if it was among them."""
        return next(((code, at) for which, code, at in self.frames if which == id(frame)), None)

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines from the outermost frame inwards: of two sites in one round of a loop, the later has the larger."""
        return tuple(line for _, line in reversed(self.users()))


def _users_frames() -> Iterator[FrameType]:
    frame = users_frame(sys._getframe(1))
    while frame is not None:
        yield frame
        frame = users_frame(frame.f_back)


def lines_now() -> tuple[int, ...]:
    """The same as `site().lines`, for here and now, and quicker."""
    return tuple(frame.f_lineno for frame in _users_frames())[::-1]


def site() -> Site:
    frames = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        frames.append((id(frame), frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return Site(tuple(frames))


def rewind(
    backward: Site,
    when: Callable[[], object],
    usable: Callable[[Any], bool],
    dealt_at: tuple[CodeType, int] | None = None,
) -> bool:
    """Arrange for the innermost loop that holds both the backward call and this moment to run its body again; `when` is
    called just before it does. A loop that carries values over from one round to the next is the second choice, and
    only if those values are `usable`. False where there is no loop to run again. `dealt_at` is the line that got the
    batch: a frame that also stood there at the backward call has a library (a trainer) make all steps in one call, and
    a loop around that is not the one."""
    second: tuple[FrameType, Loop] | None = None
    users = backward.users()
    lines = dict(users)
    for frame in _users_frames():
        if id(frame) not in lines:
            continue
        if backward.stood(frame) == dealt_at:
            break
        for loop in _loops_around(frame, frame.f_lineno):
            if not _within(loop, lines[id(frame)]):
                continue
            innermost = id(frame) == users[0][0]
            if innermost and not _loss_made_here(loop, lines[id(frame)]):
                continue
            carried = _carried_over(loop)
            if not carried:
                _jump(frame, loop, when)
                return True
            if second is None and all(usable(frame.f_locals.get(name)) for name in carried):
                second = (frame, loop)
    if second is not None:
        _jump(*second, when)
    return second is not None


def may_leave(backward: Site, dealt_at: tuple[CodeType, int] | None = None) -> bool:
    """Can the loop around the backward call end before its next round, as one does that breaks off on a NaN?"""
    lines = dict(backward.users())
    for frame in _users_frames():
        if id(frame) in lines and backward.stood(frame) == dealt_at:
            break
        for loop in _loops_around(frame, lines.get(id(frame), 0)):
            return any(_leaves(node) for node in own_nodes(ast.Module(loop.body, [])))
    return False


def share_a_round(frame: FrameType, line: int, other: int) -> bool:
    """Is this line of a frame in the innermost loop of the other one? The line of a `for` is where its batch is got."""
    tree = _tree(frame.f_code.co_filename)
    nodes = own_nodes(owner_of(tree, frame)) if tree is not None else iter(())
    loops = [node for node in nodes if isinstance(node, Loop) and (node.lineno == other or _within(node, other))]
    return bool(loops) and _within(max(loops, key=lambda loop: loop.lineno), line)


def _leaves(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name in {"exit", "_exit", "quit"}
    return isinstance(node, ast.Break | ast.Return | ast.Raise | ast.Assert)


def _loops_around(frame: FrameType, line: int) -> Iterator[Loop]:
    """The loops whose body holds this line, innermost first, of this frame's own code only."""
    tree = _tree(frame.f_code.co_filename)
    if tree is None:
        return iter(())
    owner = owner_of(tree, frame)
    found = [node for node in own_nodes(owner) if isinstance(node, Loop) and _within(node, line)]
    return iter(sorted(found, key=lambda loop: -loop.lineno))


@cache
def _tree(filename: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return None


def owner_of(tree: ast.Module, frame: FrameType) -> ast.AST:
    """The function whose code the frame runs, or the module."""
    first = frame.f_code.co_firstlineno
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == frame.f_code.co_name:
            starts = [node.lineno, *(decorator.lineno for decorator in node.decorator_list)]
            if min(starts) == first:
                return node
    return tree


def own_nodes(owner: ast.AST) -> Iterator[ast.AST]:
    """All nodes below, without those of functions and classes defined inside."""
    todo = list(ast.iter_child_nodes(owner))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            todo += ast.iter_child_nodes(node)


def _within(loop: Loop, line: int) -> bool:
    return loop.body[0].lineno <= line <= (loop.body[-1].end_lineno or loop.body[-1].lineno)


def _carried_over(loop: Loop) -> set[str]:
    """The names whose values the body takes over from the round before, or changes on the way: with any, running it
    again is not quite the same. Plain counters do not count."""
    body = ast.Module(loop.body, [])
    assigned = {name for node in own_nodes(body) for name in _assigned(node)} - _counters(body)
    fetches = _fetches(loop)
    fetched = {name for statement in loop.body[:fetches] for name in _assigned(statement)}
    return _read_too_early(loop.body[fetches:], assigned, fetched)


def _fetches(loop: Loop) -> int:
    """How many statements at the top of the body take the next batch from an iterator. They are not run again: what
    they fetched is still in its variables."""
    count = 0
    for statement in loop.body[:-1]:
        value = statement.value if isinstance(statement, ast.Assign) else None
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "next"):
            break
        count += 1
    return count


def _read_too_early(statements: list[ast.stmt], assigned: set[str], known: set[str]) -> set[str]:
    """Names read before this round has assigned them, though some statement does. Adds to `known` what is assigned."""
    early: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        heads = [node for node in ast.iter_child_nodes(statement) if not isinstance(node, ast.stmt | ast.ExceptHandler)]
        carried = {name for head in heads for name in _read(head)} & assigned - known
        again = isinstance(statement, ast.Assign) and _is_idempotent(statement.value)
        if not (again and carried <= set(_assigned(statement))):
            early |= carried
        known |= {name for node in (statement, *heads) for name in _assigned(node)}
        for block in _blocks(statement):
            early |= _read_too_early(block, assigned, known)
    return early


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    return blocks + [handler.body for handler in getattr(statement, "handlers", [])]


def _loss_made_here(loop: Loop, line: int) -> bool:
    """Is the loss whose backward this line calls computed inside the loop? Its graph is gone after the first time."""
    body = ast.Module(loop.body, [])
    assigned = {name for node in own_nodes(body) for name in _assigned(node)}
    for node in own_nodes(body):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "backward":
            continue
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            computed = any(isinstance(part, ast.Call) for part in ast.walk(node.func.value))
            return computed or bool(_read(node.func.value) & assigned)
    return True


def _counters(body: ast.Module) -> set[str]:
    """Names that are only ever added to, like `step += 1` or `total += loss.item()`."""
    nodes = list(own_nodes(body))
    added = {n.target.id for n in nodes if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}
    return added - {name for node in nodes for name in _assigned(node)}


def _assigned(node: ast.AST) -> list[str]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr | ast.For):
        targets = [node.target]
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        targets = [node.optional_vars]
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]


def _read(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}


def _is_idempotent(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return all(_is_idempotent(element) for element in value.elts)
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _IDEMPOTENT:
        value = value.func.value
    return isinstance(value, ast.Name)


def _jump(frame: FrameType, loop: Loop, when: Callable[[], object]) -> None:
    # Not from the line of a `with` or `try`: Python visits it again on the way out, before the block is left.
    simple = [
        s.lineno for s in loop.body if not isinstance(s, ast.With | ast.AsyncWith | ast.Try | ast.For | ast.While)
    ]
    leave_from = {loop.lineno, *simple}
    first = loop.body[_fetches(loop)].lineno
    before, local_before = sys.gettrace(), frame.f_trace

    def leave(traced: FrameType) -> None:
        traced.f_trace = local_before
        sys.settrace(before)

    def local(traced: FrameType, event: str, argument: Any) -> Any:
        if event == "return":
            leave(traced)
            return None
        if event != "line" or traced.f_lineno not in leave_from:
            return local
        try:
            traced.f_lineno = first  # type: ignore[misc]
            when()
        except Exception:
            # Python refuses some jumps, and nothing of ours may surface in the program's own frame. Without the jump
            # the replay begins with the next round of the loop.
            pass
        leave(traced)
        return local_before

    sys.settrace(lambda *arguments: None)
    frame.f_trace = local
