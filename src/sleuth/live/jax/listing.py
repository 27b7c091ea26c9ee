"""A jaxpr as one flat list of operations, each with the user's line, and the values they pass on by number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import CodeType
from typing import Any

import jax
import numpy as np

from sleuth.findings import Place
from sleuth.program import is_users, place_of

# Calls of these are read through; loops and branches stay one operation.
_CALLS = frozenset(
    ("jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint", "custom_jvp_call", "custom_vjp_call",
     "custom_vjp_call_jaxpr", "custom_jvp_call_jaxpr", "custom_lin")
)  # fmt: skip


@dataclass(eq=False, slots=True)
class Op:
    """One operation. `inputs` and `outputs` are numbers of values; `within` are the library functions, by name, that
    the user's line goes through to reach it; `in_backward` where it belongs to a derivative."""

    number: int
    name: str
    equation: Any
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    line: tuple[CodeType, int] | None
    within: frozenset[str]
    scope: str
    in_backward: bool = False

    @property
    def place(self) -> Place | None:
        return place_of(*self.line) if self.line is not None else None

    @property
    def params(self) -> dict[str, Any]:
        return dict(self.equation.params)

    def run(self, values: Sequence[Any]) -> Sequence[Any]:
        primitive = self.equation.primitive
        bound = primitive.get_bind_params(self.equation.params)
        # Until JAX 0.9 the functions inside came apart from the parameters.
        functions, params = bound if isinstance(bound, tuple) else ((), bound)
        result: Any = primitive.bind(*functions, *values, **params)
        return result if primitive.multiple_results else [result]


@dataclass(eq=False)
class Listing:
    """`leaves` are the numbers of the inputs; `constants` hold the values known beforehand; `results` the outputs."""

    leaves: list[int] = field(default_factory=list)
    constants: dict[int, Any] = field(default_factory=dict)
    ops: list[Op] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    makers: dict[int, Op] = field(default_factory=dict)
    count: int = 0

    def new(self) -> int:
        self.count += 1
        return self.count - 1

    def run(self, inputs: Sequence[Any], wanted: Sequence[int] | None = None) -> list[Any]:
        """All values by their numbers, or those that are wanted."""
        values: dict[int, Any] = dict(self.constants)
        values.update(zip(self.leaves, inputs, strict=True))
        for op in self.ops:
            made = op.run([values[i] for i in op.inputs])
            values.update(zip(op.outputs, made, strict=True))
        return [values.get(i) for i in range(self.count)] if wanted is None else [values[i] for i in wanted]

    @property
    def used(self) -> set[int]:
        """Which of the leaves, by their order, any result depends on."""
        read = {i for op in self.ops for i in op.inputs} | set(self.results)
        return {order for order, leaf in enumerate(self.leaves) if leaf in read}

    def readers(self) -> dict[int, list[Op]]:
        found: dict[int, list[Op]] = {}
        for op in self.ops:
            for i in op.inputs:
                found.setdefault(i, []).append(op)
        return found

    def behind(self, value: int) -> Iterator[Op]:
        """The operations a value was computed from, the nearest first."""
        seen: set[int] = set()
        todo = [value]
        while todo:
            op = self.makers.get(todo.pop(0))
            if op is not None and op.number not in seen:
                seen.add(op.number)
                yield op
                todo.extend(op.inputs)

    def leaves_behind(self, value: int) -> set[int]:
        leaves = set(self.leaves)
        found = {value} & leaves
        for op in self.behind(value):
            found |= leaves.intersection(op.inputs)
        return found


def read(closed: Any, wanted: int | None = None) -> Listing:
    """The operations of a closed jaxpr that its first results need: all of them, or `wanted` many. Its constants come
    first among the leaves, then its arguments."""
    listing = Listing()
    jaxpr = closed.jaxpr
    names: dict[Any, int] = {}
    for variable in (*jaxpr.constvars, *jaxpr.invars):
        names[variable] = listing.new()
        listing.leaves.append(names[variable])
    _walk(listing, jaxpr, names, None, "")
    listing.results = [_number(listing, names, variable) for variable in jaxpr.outvars[:wanted]]
    _prune(listing)
    return listing


def _prune(listing: Listing) -> None:
    """Leave out what no result depends on."""
    needed = set(listing.results)
    kept = []
    for op in reversed(listing.ops):
        if needed.intersection(op.outputs):
            needed.update(op.inputs)
            kept.append(op)
    listing.ops = kept[::-1]
    for number, op in enumerate(listing.ops):
        op.number = number
    listing.makers = {i: op for op in listing.ops for i in op.outputs}


def _walk(listing: Listing, jaxpr: Any, names: dict[Any, int], caller: Any, scope: str) -> None:
    """`caller` is the user's line, and what lies between, where a function of a library is read: its own jaxpr may have
    been traced for another line."""
    for equation in jaxpr.eqns:
        here, through = caller or _users_line(equation)
        stack = str(equation.source_info.name_stack)
        full = "/".join(part for part in (scope, stack) if part)
        inner = _inner(equation)
        inputs = tuple(_number(listing, names, variable) for variable in equation.invars)
        if inner is not None:
            inner_jaxpr, constants = inner
            called = dict(zip(inner_jaxpr.invars, inputs, strict=True))
            for variable, value in zip(inner_jaxpr.constvars, constants, strict=True):
                called[variable] = listing.new()
                listing.constants[called[variable]] = value
            name = str(equation.params.get("name", ""))
            users = caller is None and _is_users_function(inner_jaxpr)
            _walk(listing, inner_jaxpr, called, None if users else (here, through | {name}), full)
            for variable, result in zip(equation.outvars, inner_jaxpr.outvars, strict=True):
                names[variable] = _number(listing, called, result)
            continue
        outputs = tuple(listing.new() for _ in equation.outvars)
        op = Op(len(listing.ops), equation.primitive.name, equation, inputs, outputs, here, through, full)
        op.in_backward = "transpose(" in full
        listing.ops.append(op)
        for variable, number in zip(equation.outvars, outputs, strict=True):
            names[variable] = number
            listing.makers[number] = op


def _number(listing: Listing, names: dict[Any, int], variable: Any) -> int:
    if hasattr(variable, "val"):
        number = listing.new()
        listing.constants[number] = variable.val
        return number
    return names[variable]


def _inner(equation: Any) -> tuple[Any, Sequence[Any]] | None:
    if equation.primitive.name not in _CALLS:
        return None
    inner = equation.params.get("jaxpr") or equation.params.get("call_jaxpr") or equation.params.get("fun_jaxpr")
    if inner is None:
        return None
    jaxpr, constants = (inner.jaxpr, inner.consts) if hasattr(inner, "consts") else (inner, ())
    return (jaxpr, constants) if len(jaxpr.invars) == len(equation.invars) else None


def _is_users_function(jaxpr: Any) -> bool:
    information = getattr(jaxpr, "debug_info", None)
    source = str(getattr(information, "func_src_info", "") or "")
    filename = source.rpartition(" at ")[2].rpartition(":")[0]
    return bool(filename) and is_users(filename)


def _users_line(equation: Any) -> tuple[tuple[CodeType, int] | None, frozenset[str]]:
    trace = equation.source_info.traceback
    if trace is None:
        return None, frozenset()
    codes, instructions = trace.raw_frames()
    within: set[str] = set()
    for code, instruction in zip(codes, instructions, strict=True):
        if is_users(code.co_filename):
            return (code, instruction), frozenset(within)
        if not _is_machinery(code.co_filename):
            within.add(code.co_name)
    return None, frozenset(within)


@cache
def _is_machinery(filename: str) -> bool:
    ends = ("core.py", "pjit.py", "traceback_util.py", "source_info_util.py", "partial_eval.py", "api.py", "ad.py",
            "custom_derivatives.py", "api_util.py", "linear_util.py", "batching.py")  # fmt: skip
    return "jax" in filename and filename.endswith(ends)


def compiled(listing: Listing, wanted: Sequence[int] | None) -> Any:
    """A function from the inputs to the wanted values (or all), compiled as one."""
    from sleuth.live.jax.differentiated import original

    return original("jit")(lambda inputs: listing.run(inputs, wanted))


def as_numpy(value: Any) -> Any:
    """On the host, in a type NumPy can measure."""
    if jax.dtypes.issubdtype(getattr(value, "dtype", None), jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    array = np.asarray(value)
    if array.dtype.kind == "V" or str(array.dtype) in ("bfloat16", "float16"):
        array = array.astype(np.float32)
    return array
