"""Where the interpreter stands: the names in scope, and the loops, `with`s and branches around the current point."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from sleuth.source.scopes import ClassInfo, File, FunctionInfo
from sleuth.source.sites import Spot, Step
from sleuth.source.values import Value

if TYPE_CHECKING:
    from sleuth.source.listeners import Listeners
    from sleuth.source.project import Project

# How many functions deep a call is followed, how often one function is read anew with other arguments, and how many
# statements one root may cost in all: programs can be made on which following everything never ends.
DEEPEST = 5
MOST_VISITS = 12
FUEL = 20_000


class Reading:
    """What one reading of a function gave, for the next call that knows as little of its arguments."""

    __slots__ = ("depth", "given", "result", "steps")

    def __init__(self, result: Value, steps: list[Step], depth: int, given: tuple[object, ...] = ()) -> None:
        self.result = result
        self.given = given  # the literal arguments it was read with
        self.steps = steps
        self.depth = depth  # how many of the steps' loops were around the call


class State:
    """What every part of the interpreter reads and writes."""

    def __init__(self, file: File, project: Project, listeners: Listeners) -> None:
        self.file = file
        self.project = project
        self.listeners = listeners
        self.names: dict[str, Value] = {}
        self.function: FunctionInfo | None = None
        self.loops: tuple[ast.AST, ...] = ()
        self.withs: tuple[Value, ...] = ()
        self.branch: tuple[tuple[int, str], ...] = ()
        self.guards: tuple[str, ...] = ()
        self.tests: tuple[ast.expr, ...] = ()
        self.calls: tuple[tuple[File, ast.AST], ...] = ()
        self.stack: tuple[FunctionInfo, ...] = ()
        self.steps: list[Step] = []
        self.bound_in: dict[tuple[int, str], tuple[ast.AST, ...]] = {}  # object and attribute: the loops it was set in
        self.returned: list[Value] = []
        self.ended = False  # has the current path returned, raised, or left the loop?
        self.choosing = False  # reading a function with arguments that are known: a branch they rule out is not read
        self.fuel = FUEL
        self.inside: list[Value] = []  # networks whose layers are being applied
        self.visits: dict[FunctionInfo, int] = {}
        self.readings: dict[FunctionInfo, Reading] = {}
        self.made: dict[tuple[Any, ...], dict[str, Value]] = {}

    def evaluate(self, node: ast.expr) -> Value:
        raise NotImplementedError

    def execute(self, body: list[ast.stmt]) -> None:
        raise NotImplementedError

    def spot(self) -> Spot:
        return Spot(self.file, self.function, self.loops, self.withs, self.branch, self.guards, self.tests, self.calls)

    def lookup(self, name: str) -> Value | None:
        found = self.names.get(name)
        if found is None and self.function is not None:
            found = self.function.enclosing.get(name)
        if found is None:
            found = self.file.globals.get(name)
        return found if found is None or found.kind != "pending" else self.project.settle(found)

    def class_of(self, value: Value) -> ClassInfo | None:
        return value.info if isinstance(value.info, ClassInfo) else None
