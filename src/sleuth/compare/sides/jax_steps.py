"""A JAX function as a flat list of equations, each with the user's line: what it calls is written out in its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jax.extend.core import ClosedJaxpr, Literal, Var

from sleuth.compare.sides import jax_words
from sleuth.compare.sides.pieces import Step
from sleuth.findings import Place
from sleuth.program import is_users, place_at

# Calls of another function, not loops or branches: those stay one equation.
_CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "remat": "jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
}
_FUNCTIONS_OF_JAX_NN = "/jax/_src/nn/functions.py"


@dataclass(frozen=True, slots=True)
class Equation:
    """`given` are names of earlier results, or values that are known before; `makes` the names of its results."""

    primitive: Any
    settings: dict[str, Any]
    given: tuple[Any, ...]
    makes: tuple[str, ...]
    step: Step
    layer: str
    place: Place | None


@dataclass(frozen=True, slots=True)
class Named:
    """A result, by its name."""

    name: str


@dataclass(slots=True)
class Program:
    """`inputs` are the names of the flat arguments, `outputs` what is returned: names, or values known before."""

    inputs: list[str] = field(default_factory=list)
    equations: list[Equation] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)

    def steps(self, fixed: int) -> list[Step]:
        """The first `fixed` inputs are parameters."""
        given = [
            Step(name, "input" if place >= fixed else "other", "input", ()) for place, name in enumerate(self.inputs)
        ]
        return [*given, *(equation.step for equation in self.equations)]


def program_of(closed: ClosedJaxpr) -> Program:
    writer = _Writer()
    program = writer.program
    program.inputs = [f"argument_{place}" for place in range(len(closed.jaxpr.invars))]
    program.outputs = writer.write(closed, [Named(name) for name in program.inputs], ())
    return program


class _Writer:
    """Writes calls out in place; keeps how often each primitive was met, for the names."""

    def __init__(self) -> None:
        self.program = Program()
        self._counts: dict[str, int] = {}
        self._scope: list[tuple[str, str]] = []
        self._calls = 0

    def write(self, closed: Any, arguments: list[Any], outer: tuple[tuple[str, str, int], ...]) -> list[Any]:
        jaxpr, constants = (closed.jaxpr, closed.consts) if hasattr(closed, "jaxpr") else (closed, ())
        known: dict[Var, Any] = dict(zip(jaxpr.constvars, constants, strict=True))
        known.update(zip(jaxpr.invars, arguments, strict=True))

        def read(variable: Any) -> Any:
            return variable.val if isinstance(variable, Literal) else known[variable]

        for equation in jaxpr.eqns:
            given = [read(one) for one in equation.invars]
            frames = (*outer, *_frames(equation))
            inner = equation.params.get(_CALLS.get(equation.primitive.name, ""))
            if inner is not None:
                made = self.write(inner, given, (*frames, *_called(equation)))
            else:
                made = self._add(equation, given, frames)
            known.update(zip(equation.outvars, made, strict=True))
        return [read(one) for one in jaxpr.outvars]

    def _add(self, equation: Any, given: list[Any], frames: tuple[tuple[str, str, int], ...]) -> list[Any]:
        kind = equation.primitive.name
        count = self._counts[kind] = self._counts.get(kind, -1) + 1
        name = f"{kind}_{count}" if count else kind
        makes = tuple(f"{name}[{place}]" if place else name for place in range(len(equation.outvars)))
        scopes = str(equation.source_info.name_stack).split("/") if str(equation.source_info.name_stack) else []
        rank = len(getattr(equation.outvars[0].aval, "shape", ())) if equation.outvars else 0
        step = Step(
            name,
            jax_words.kind_of(kind),
            jax_words.of(kind, rank),
            tuple(one.name.partition("[")[0] for one in given if isinstance(one, Named)),
            self._scope_of(frames, scopes),
            next((jax_words.WHOLE[told] for path, told, _ in frames if not path and told in jax_words.WHOLE), ""),
        )
        users = [frame for frame in frames if is_users(frame[0])]
        place = place_at(users[-1][0], users[-1][2]) if users else None
        layer = ".".join(scopes) or ".".join(told for _, told, _ in users[1:])
        self.program.equations.append(
            Equation(equation.primitive, equation.params, tuple(given), makes, step, layer, place)
        )
        return [Named(one) for one in makes]

    def _scope_of(self, frames: tuple[tuple[str, str, int], ...], scopes: list[str]) -> tuple[str, ...]:
        """The calls it stands in. A loop comes by the same lines again: what is not next to it is another call."""
        lines = [f"{told}@{frames[place - 1][2] if place else ''}" for place, (_, told, _) in enumerate(frames)]
        wanted = [*lines, *scopes]
        same = 0
        while same < min(len(wanted), len(self._scope)) and self._scope[same][0] == wanted[same]:
            same += 1
        self._scope = self._scope[:same]
        for part in wanted[same:]:
            self._calls += 1
            self._scope.append((part, f"{part}#{self._calls}"))
        return tuple(shown for _, shown in self._scope)


def _frames(equation: Any) -> list[tuple[str, str, int]]:
    """File, function and line, outermost first: the user's own, and functions of jax.nn, which have no file here."""
    traceback = equation.source_info.traceback
    found = []
    for frame in reversed(traceback.frames if traceback is not None else []):
        if frame.file_name.replace("\\", "/").endswith(_FUNCTIONS_OF_JAX_NN) and frame.function_name in jax_words.WHOLE:
            found.append(("", frame.function_name, frame.line_num))
        elif is_users(frame.file_name):
            found.append((frame.file_name, frame.function_name.rpartition(".")[2], frame.line_num))
    return found


def _called(equation: Any) -> list[tuple[str, str, int]]:
    """A function of jax.nn that is compiled apart keeps its name."""
    name = str(equation.params.get("name", ""))
    return [("", name, 0)] if name in jax_words.WHOLE else []
