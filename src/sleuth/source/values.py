"""What is known about a value of the user's program without running it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, Final

# What a value is. "?" where nothing is known.
UNKNOWN_KIND: Final = "?"
KINDS: Final = (
    "?",
    "api",  # a name of a framework: torch.nn.functional, torch.log
    "tensor",  # of torch, TensorFlow or JAX
    "array",  # of NumPy
    "number",
    "text",
    "none",
    "module",  # a layer, loss or network of a framework's own class
    "instance",  # of a class of the project
    "class",  # of the project
    "function",  # of the project
    "optimizer",
    "scheduler",
    "loader",
    "dataset",
    "scaler",
    "device",
    "dtype",
    "sequence",  # list, tuple or set display
    "mapping",
    "key",  # a JAX random key
    "self",
)


class Nothing:
    """No literal value is known; `None` would be one."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Final = Nothing()
_NO_VALUES: Final[dict[str, Any]] = {}
_FLOAT_LIMIT: Final = 1e308


class Value:
    """One value: what kind of thing it is, which operation made it from which others, and what range it keeps to.

    Values form a graph through `inputs`, so that `log(p)` three lines below `p = softmax(x)` still sees the softmax.
    """

    # Defaults live in the class: most values set few of these, and millions are made.
    raw: str = ""  # the dotted name as imported, before aliases of one thing were unified
    lo: float | None = None
    hi: float | None = None
    dtype: str | None = None
    device: str | None = None  # "cpu", "cuda", "cuda:1" where it is known
    grad: bool | None = None  # does a gradient flow through it?
    shape: tuple[int | None, ...] | None = None
    parts: list[Value] | None = None  # items of a sequence, values of a mapping, layers of a Sequential
    exact: bool = True  # are `parts` all of them, in their order?
    tail: bool = True  # is at least the last of `parts` the last?
    attrs: dict[str, Value] = _NO_VALUES  # of an instance or module, written through `own_attrs`
    options: dict[str, Value] = _NO_VALUES  # arguments by name ("0", "1" … for positional) of what made it
    info: Any = None  # the project's class or function behind it
    unit: Any = None  # the file it was made in
    loop: int = 0  # the identity of the innermost loop it was made in, 0 outside
    used: Any = None  # of a generator: the node that went through it first, and the branches around that
    branch: tuple[tuple[int, str], ...] = ()  # of a container: the branches it was made in

    def __init__(
        self,
        kind: str = "?",
        node: ast.AST | None = None,
        *,
        op: str = "",
        inputs: tuple[Value, ...] = (),
        api: str = "",
        const: Any = NOTHING,
    ) -> None:
        self.kind = kind
        self.node = node  # the expression that made it
        self.op = op  # the operation: "softmax", "log", "param:0" …
        self.inputs = inputs
        self.api = api  # the framework name itself (kind "api"), or of the class it was made from
        self.const = const

    def become(self, other: Value) -> None:
        """Be the same as another value from now on."""
        self.__dict__.update(other.__dict__)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.api or self.op}>"

    @property
    def line(self) -> int:
        return getattr(self.node, "lineno", 0)

    def own_attrs(self) -> dict[str, Value]:
        if self.attrs is _NO_VALUES:
            self.attrs = {}
        return self.attrs

    def option(self, *names: str) -> Value | None:
        """An argument of the call that made it, by position ("0") or name, the first that is there."""
        for name in names:
            found = self.options.get(name)
            if found is not None:
                return found
        return None

    def number(self) -> float | None:
        """The literal number it is."""
        const = self.const
        return const if isinstance(const, int | float) and not isinstance(const, bool) else None


def constant(value: Any, node: ast.AST | None = None) -> Value:
    if value is None:
        return Value("none", node, const=None)
    if isinstance(value, str):
        return Value("text", node, const=value)
    if not isinstance(value, int | float):
        return Value("number" if isinstance(value, complex) else "?", node, const=value)
    made = Value("number", node, const=value)
    if abs(value) < _FLOAT_LIMIT:
        made.lo = made.hi = float(value)
    return made


# Operations that change the shape, place or type of the numbers and leave the numbers.
SAME_NUMBERS: Final = frozenset(
    "view reshape flatten unflatten squeeze unsqueeze transpose permute t movedim swapaxes contiguous clone to cpu "
    "cuda float "
    "double half bfloat16 type astype cast index select expand repeat detach stop_gradient data copy identity "
    "network convert "
    "expand_dims ravel numpy from_numpy as_tensor gather diag narrow chunk split roll flip requires_grad_ "
    "checkpoint attr:T "
    "attr:mT attr:data".split()
)


def same(a: Value, b: Value, depth: int = 6) -> bool:
    """Do the two surely hold the same number, being made by the same operations from the same things?"""
    if a is b:
        return a.kind != "?" or bool(a.op)
    if isinstance(a.const, Nothing) != isinstance(b.const, Nothing):
        return False
    if not isinstance(a.const, Nothing):
        return type(a.const) is type(b.const) and a.const == b.const
    if not a.op or a.op != b.op or a.op == "phi" or len(a.inputs) != len(b.inputs) or not a.inputs or depth == 0:
        return False
    return all(same(x, y, depth - 1) for x, y in zip(a.inputs, b.inputs, strict=True))


def origins(value: Value, through: frozenset[str] = SAME_NUMBERS) -> Iterator[Value]:
    """The values it may be, looking through operations that leave the numbers and through joins of branches."""
    todo = [value]
    seen: set[int] = set()
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if one.op == "phi":
            todo += one.inputs
        elif one.op in through and one.inputs:
            todo.append(one.inputs[0])
        else:
            yield one


def made_by(value: Value, *operations: str, through: frozenset[str] = SAME_NUMBERS) -> Value | None:
    """The value of one of these operations that it surely is, on every branch; None otherwise."""
    found = None
    for one in origins(value, through):
        if one.op not in operations:
            return None
        found = found or one
    return found


def maybe_made_by(value: Value, *operations: str, through: frozenset[str] = SAME_NUMBERS) -> Value | None:
    """The value of one of these operations that it is on some branch."""
    return next((one for one in origins(value, through) if one.op in operations), None)


def ancestors(value: Value, stop: Callable[[Value], bool] | None = None, most: int = 400) -> Iterator[Value]:
    """It and all it was computed from, nearest first."""
    todo = [value]
    seen: set[int] = set()
    while todo and len(seen) < most:
        one = todo.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if stop is None or not stop(one):
            todo += one.inputs


def again(value: Value, node: ast.AST | None) -> Value:
    """What another call of the same function gives: alike in all we know, yet not the same number."""
    if value.kind not in ("?", "tensor", "array", "number", "sequence") or not isinstance(value.const, Nothing):
        return value
    made = Value(value.kind, node)
    made.become(value)
    made.op, made.inputs = "phi", (value,)
    return made


def another(value: Value, node: ast.AST | None) -> Value:
    """A second object, made like a first one: alike in all we know, with attributes and parts of its own."""
    made = Value(value.kind, node)
    made.become(value)
    made.attrs = dict(value.attrs) if value.attrs else value.attrs
    made.parts = None if value.parts is None else list(value.parts)
    return made


def itself(value: Value) -> Value:
    """The value behind what another call of the same function gave."""
    while value.op == "phi" and len(value.inputs) == 1:
        value = value.inputs[0]
    return value


def joined(a: Value, b: Value, node: ast.AST | None) -> Value:
    """What a name holds after two branches gave it different values."""
    if a is b:
        return a
    kind = a.kind if a.kind == b.kind and a.kind != "pending" else "?"
    made = Value(kind, node, op="phi", inputs=(a, b), api=a.api if a.api == b.api else "")
    if kind in ("number", "tensor", "array"):
        if a.lo is not None and b.lo is not None:
            made.lo = min(a.lo, b.lo)
        if a.hi is not None and b.hi is not None:
            made.hi = max(a.hi, b.hi)
    made.dtype = a.dtype if a.dtype == b.dtype else None
    made.device = a.device if a.device == b.device else None
    made.grad = a.grad if a.grad == b.grad else None
    made.shape = a.shape if a.shape == b.shape else None
    made.info = a.info if a.info is b.info else None
    if kind in ("instance", "self") and made.info is not None:
        made.attrs = a.attrs
    if a.parts is not None and b.parts is not None and len(a.parts) == len(b.parts):
        made.parts = [_one_of(x, y) for x, y in zip(a.parts, b.parts, strict=True)]
        made.exact, made.tail = a.exact and b.exact, a.tail and b.tail
    if a.options and b.options:
        made.options = {key: x for key, x in a.options.items() if (y := b.options.get(key)) is x or _equal(x, y)}
    return made


def _one_of(a: Value, b: Value) -> Value:
    if a is b:
        return a
    kind = a.kind if a.kind == b.kind else "?"
    return Value(kind, a.node, op="phi", inputs=(a, b), api=a.api if a.api == b.api else "")


def _equal(a: Value, b: Value | None) -> bool:
    return b is not None and a.const is not NOTHING and type(a.const) is type(b.const) and bool(a.const == b.const)


def partly_replaced(base: Value, value: Value, node: ast.AST | None) -> Value:
    """A tensor after `base[...] = value`: what made it no longer tells all its numbers."""
    made = Value(base.kind, node, op="set_item", inputs=(base, value), api=base.api)
    if base.lo is not None and value.lo is not None:
        made.lo = min(base.lo, value.lo)
    if base.hi is not None and value.hi is not None:
        made.hi = max(base.hi, value.hi)
    made.dtype, made.device, made.shape = base.dtype, base.device, base.shape
    made.unit, made.loop = base.unit, base.loop
    made.grad = base.grad or value.grad
    return made
