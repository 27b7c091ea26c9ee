"""A JAX function with its parameters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import jax
import numpy as np

from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.jax_steps import Equation, Named, Program, program_of
from sleuth.compare.sides.pieces import wholes
from sleuth.compare.sides.remote_messages import one_line
from sleuth.compare.values import Array, Batch, Captured, Value


class JaxSide(Side):
    """Called as `function(params, *inputs)`, or without parameters as `function(*inputs)`.

    Answers are the function's own; inner values are computed equation by equation."""

    def __init__(self, function: Callable[..., Any], params: Any = None, title: str = "") -> None:
        self.function = function
        self.params = params
        self.title = title or getattr(function, "__name__", type(function).__name__)
        self.runtime = f"JAX {jax.__version__}, {jax.default_backend()}"
        self.precision = _precision(list(self.weights().values()))
        self._programs: dict[Any, Program] = {}

    def run(self, batch: Batch) -> list[Array]:
        return self._run(self._arguments(batch))

    def run64(self, batch: Batch) -> list[Array]:
        """The same in float64."""
        with _in_float64():
            return self._run(jax.tree.map(_widened, self._arguments(batch)))

    def _run(self, arguments: tuple[Any, ...]) -> list[Array]:
        try:
            return [as_array(leaf) for leaf in jax.tree.leaves(self.function(*arguments))]
        except Exception as problem:
            raise CannotCompare(f"{self.title} cannot be run on these inputs: {one_line(problem)}") from None

    def capture(self, batch: Batch, wanted: Collection[str] | None = None) -> Captured:
        arguments = self._arguments(batch)
        outputs = self._run(arguments)
        program = self._program(arguments)
        flat = jax.tree.leaves(arguments)
        found = wholes(program.steps(len(flat) - len(batch)))
        captured = Captured(outputs)
        results: dict[str, Any] = dict(zip(program.inputs, flat, strict=True))
        last = _last_uses(program)
        for place, equation in enumerate(program.equations):
            results.update(zip(equation.makes, _computed(equation, results), strict=True))
            if found.is_compared(equation.step):
                _keep(captured, equation, found.word(equation.step), results, wanted)
            for name in last.get(place, ()):
                results.pop(name, None)
        return captured

    def weights(self) -> Mapping[str, Array]:
        """Of the parameters, by their path; of a function that is itself a tree of arrays, by its own."""
        held = self.params if self.params is not None else self.function
        found = {}
        for path, leaf in jax.tree_util.tree_leaves_with_path(held):
            if hasattr(leaf, "dtype") and hasattr(leaf, "shape"):
                found[".".join(_part(key) for key in path)] = as_array(leaf)
        return found

    def _arguments(self, batch: Batch) -> tuple[Any, ...]:
        inputs = tuple(jax.numpy.asarray(array) for array in batch)
        return inputs if self.params is None else (self.params, *inputs)

    def _program(self, arguments: tuple[Any, ...]) -> Program:
        key = tuple((leaf.shape, str(leaf.dtype)) for leaf in map(np.asarray, jax.tree.leaves(arguments)))
        if key not in self._programs:
            self._programs[key] = program_of(jax.make_jaxpr(self.function)(*arguments))
        return self._programs[key]


def _computed(equation: Equation, results: Mapping[str, Any]) -> list[Any]:
    given = [results[one.name] if isinstance(one, Named) else one for one in equation.given]
    settings = equation.primitive.get_bind_params(equation.settings)
    # Older versions hand out the functions that it calls apart from its settings.
    functions, settings = settings if isinstance(settings, tuple) else ((), settings)
    made = equation.primitive.bind(*functions, *given, **settings)
    return list(made) if equation.primitive.multiple_results else [made]


def _keep(
    captured: Captured, equation: Equation, word: str, results: Mapping[str, Any], wanted: Collection[str] | None
) -> None:
    for name in equation.makes:
        if (wanted is None or name in wanted) and jax.numpy.issubdtype(results[name].dtype, jax.numpy.inexact):
            captured.values.append(Value(name, word, equation.layer, equation.place))
            captured.arrays[name] = as_array(results[name])


def _last_uses(program: Program) -> dict[int, list[str]]:
    """After which equation a result is needed no more."""
    last: dict[str, int] = {}
    for place, equation in enumerate(program.equations):
        last.update({one.name: place for one in equation.given if isinstance(one, Named)})
        last.update(dict.fromkeys(equation.makes, place))
    for place, equation in enumerate(program.equations):
        last.update({one.name: max(place, last[one.name]) for one in equation.given if isinstance(one, Named)})
    ends: dict[int, list[str]] = {}
    for name, place in last.items():
        ends.setdefault(place, []).append(name)
    return ends


def _in_float64() -> Any:
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64

    return enable_x64()


def _widened(leaf: Any) -> Any:
    array = np.asarray(leaf)
    return jax.numpy.asarray(array, dtype=np.float64) if jax.numpy.issubdtype(array.dtype, jax.numpy.floating) else leaf


def _precision(arrays: list[Array]) -> str:
    kinds = {array.dtype.name for array in arrays if array.dtype.kind == "f"}
    return kinds.pop() if len(kinds) == 1 else "float32"


def _part(key: Any) -> str:
    """A step of a path: a dict's key, a list's place, an attribute."""
    for name in ("key", "idx", "name"):
        if hasattr(key, name):
            return str(getattr(key, name))
    return str(key)


def as_array(leaf: Any) -> Array:
    """A copy; bfloat16, which NumPy has not, as float32."""
    array = np.array(leaf)
    return array.astype(np.float32) if array.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2") else array
