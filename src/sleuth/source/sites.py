"""What the interpreter shows to checks: a call, a use of a name, an assignment, and where in the program it stands."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sleuth.source.scopes import ClassInfo, File, FunctionInfo
    from sleuth.source.values import Value


class Spot:
    """A point of the program: its file, function, and the loops, `with`s, branches and guards around it."""

    __slots__ = ("branch", "calls", "cls", "file", "function", "guards", "loops", "tests", "withs")

    def __init__(
        self,
        file: File,
        function: FunctionInfo | None,
        loops: tuple[ast.AST, ...],
        withs: tuple[Value, ...],
        branch: tuple[tuple[int, str], ...],
        guards: tuple[str, ...],
        tests: tuple[ast.expr, ...],
        calls: tuple[tuple[File, ast.AST], ...],
    ) -> None:
        self.file = file
        self.function = function
        self.cls: ClassInfo | None = None if function is None else function.cls
        self.loops = loops  # loops around it, outermost first, those of callers included
        self.withs = withs  # what the `with` statements around it were given
        self.branch = branch  # (identity of an if/try, "body"/"else"/"except") around it
        self.guards = guards  # "version", "try", "except": it may run only with other versions of a library
        self.tests = tests  # conditions of the `if`s around it, and of those that left the function before it
        self.calls = calls  # the calls through which it was reached, outermost first

    @property
    def without_grad(self) -> bool:
        """Inside torch.no_grad() or inference_mode()?"""
        return any(
            value.api in _NO_GRAD or (value.api == "torch.set_grad_enabled" and _is_false(value.option("0", "mode")))
            for value in self.withs
        )

    @property
    def expects_failure(self) -> bool:
        """Inside `with pytest.raises(...)` and its like, where what is wrong is wrong on purpose?"""
        return any(value.op in _FAILURE_EXPECTED for value in self.withs)

    def inside(self, *apis: str) -> bool:
        """Inside a `with` of one of these?"""
        return any(value.api in apis for value in self.withs)

    def guarded_by(self, *names: str) -> bool:
        """Does a condition around it speak of one of these names (variables or attributes)?"""
        return any(
            (isinstance(node, ast.Name) and node.id in names)
            or (isinstance(node, ast.Attribute) and node.attr in names)
            for test in self.tests
            for node in ast.walk(test)
        )


_FAILURE_EXPECTED = frozenset(
    f"call:{name}" for name in "raises warns assertRaises assertRaisesRegex assertWarns assertWarnsRegex".split()
)
_NO_GRAD = frozenset({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"})


def _is_false(value: Value | None) -> bool:
    return value is not None and value.const is False


class Site:
    """A call or an operator, with what is known of its operands and its result."""

    __slots__ = ("args", "keywords", "name", "node", "op", "operands", "receiver", "result", "spot", "star")

    def __init__(
        self,
        node: Any,
        name: str,
        op: str,
        receiver: Value | None,
        args: list[Value],
        keywords: dict[str, Value],
        operands: list[Value],
        result: Value,
        spot: Spot,
        star: bool,
    ) -> None:
        self.node = node
        self.name = name  # "torch.load", "tensor.log", "optimizer.step", "?.step"; "" for an operator
        self.op = op  # "log", "cross_entropy", "div" …; "" where it is none
        self.receiver = receiver  # what the method or layer belongs to
        self.args = args
        self.keywords = keywords
        self.operands = operands  # a tensor's method counts the tensor first: torch.log(x) and x.log() look alike
        self.result = result
        self.spot = spot
        self.star = star  # called with *args or **kwargs: not all arguments are known

    def operand(self, position: int, *names: str) -> Value | None:
        """The operand by position, or by one of its names."""
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        return self.operands[position] if 0 <= position < len(self.operands) else None

    def option(self, *names: str) -> Value | None:
        """A keyword argument of the call, or of the construction of the layer called."""
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        made = self.receiver
        return None if made is None else made.option(*names)

    def given(self, *names: str) -> bool:
        return self.option(*names) is not None


class Use:
    """A framework's name, read."""

    __slots__ = ("called", "name", "node", "raw", "spot")

    def __init__(self, node: ast.AST, name: str, raw: str, spot: Spot, called: bool) -> None:
        self.node = node
        self.name = name
        self.raw = raw
        self.spot = spot
        self.called = called


class Assignment:
    """`base.attribute = value` or `base[...] = value`."""

    __slots__ = ("attribute", "base", "index", "node", "spot", "target", "value")

    def __init__(
        self,
        node: ast.AST,
        target: Any,
        base: Value,
        attribute: str,
        value: Value,
        spot: Spot,
        index: Value | None = None,
    ) -> None:
        self.node = node  # the statement
        self.target = target
        self.base = base
        self.attribute = attribute  # "" for a subscript
        self.index = index  # what stands in a subscript's brackets
        self.value = value
        self.spot = spot


class Comparison:
    """`left < right`, one operator."""

    __slots__ = ("left", "node", "operator", "right", "spot")

    def __init__(self, node: ast.Compare, operator: ast.cmpop, left: Value, right: Value, spot: Spot) -> None:
        self.node = node
        self.operator = operator
        self.left = left
        self.right = right
        self.spot = spot


class Discarded:
    """An expression statement whose value nobody takes."""

    __slots__ = ("node", "spot", "value")

    def __init__(self, node: ast.Expr, value: Value, spot: Spot) -> None:
        self.node = node
        self.value = value
        self.spot = spot


class Step:
    """One act of a training protocol: backward, step, zero_grad, eval … in the order they happen."""

    __slots__ = ("act", "receiver", "site")

    def __init__(self, act: str, receiver: Value | None, site: Site) -> None:
        self.act = act
        self.receiver = receiver
        self.site = site

    def moved(self, loops: tuple[ast.AST, ...], depth: int) -> Step:
        """The same step inside other loops, in place of the first `depth` it was seen in."""
        old = self.site.spot
        spot = Spot(
            old.file,
            old.function,
            (*loops, *old.loops[depth:]),
            old.withs,
            old.branch,
            old.guards,
            old.tests,
            old.calls,
        )
        site = self.site
        args = (site.node, site.name, site.op, site.receiver, site.args, site.keywords, site.operands, site.result)
        return Step(self.act, self.receiver, Site(*args, spot, site.star))

    @property
    def node(self) -> Any:
        return self.site.node

    @property
    def loops(self) -> tuple[ast.AST, ...]:
        return self.site.spot.loops


class Trace:
    """All the steps from one root: the whole script (with the functions it calls, in their places), or one function."""

    __slots__ = ("file", "function", "steps")

    def __init__(self, file: File, function: FunctionInfo | None, steps: list[Step]) -> None:
        self.file = file
        self.function = function  # None for the script itself
        self.steps = steps

    def of(self, *acts: str) -> list[Step]:
        return [step for step in self.steps if step.act in acts]

    def within(self, loop: ast.AST) -> list[Step]:
        """The steps inside a loop, also deeper."""
        return [step for step in self.steps if loop in step.loops]
