"""What the program differentiates: `jax.grad` and `jax.value_and_grad` tell of each call, and do as they always did."""

from __future__ import annotations

import functools
import inspect
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any

import jax
import numpy as np

from sleuth.live.jax import tracing
from sleuth.program import users_frame

# Of each line the newest call is kept, and a few lines: programs with several optimisers differentiate several losses.
_KEPT = 8

_original: dict[str, Any] = {"jit": jax.jit, "grad": jax.grad, "value_and_grad": jax.value_and_grad}


def original(name: str) -> Any:
    """The function of JAX's before anyone listened."""
    return _original[name]


@dataclass(eq=False, slots=True)
class Forward:
    """How the value is computed: a jaxpr that gives it first, and what goes in (tracers, inside jit). For each of the
    call's leaves that is among the inputs, which one."""

    closed: Any
    inputs: list[Any]
    positions: dict[int, int]


@dataclass(eq=False, slots=True)
class Differentiated:
    """One call: the function with its arguments, the value and the gradients it gave (tracers, inside jit)."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    argnums: int | tuple[int, ...]
    value: Any
    gradients: Any
    line: tuple[CodeType, int] | None
    forward: Forward | None = None
    # The trace it belongs to; None where all is numbers.
    trace: Any = None
    # An optimiser was given these gradients.
    used: bool = False
    # Where it came out of a compiled function: how its value is computed there, and from what.
    variant: Any = None
    moving: list[Any] | None = None
    seen: Any = None

    @property
    def weights(self) -> list[Any]:
        """What it was differentiated by."""
        if self.variant is not None and self.moving is not None:
            of_variant: list[Any] = self.variant.weights(self.moving)
            return of_variant
        numbers = self.argnums if isinstance(self.argnums, tuple | list) else (self.argnums,)
        found: list[Any] = jax.tree.leaves([self.arguments[n] for n in numbers])
        return found

    @property
    def leaves(self) -> list[Any]:
        found: list[Any] = jax.tree.leaves((self.arguments, self.keywords))
        return found


calls: deque[Differentiated] = deque(maxlen=_KEPT)


def telling(name: str) -> Callable[..., Any]:
    """`jax.grad` or `jax.value_and_grad`, giving functions that tell whoever listens when they are called."""
    ours = _original[name]
    signature = inspect.signature(ours)

    @functools.wraps(ours)
    def told(*args: Any, **options: Any) -> Any:
        inner = ours(*args, **options)
        if tracing.of_jax_itself(sys._getframe(1)):
            return inner
        settings = signature.bind(*args, **options).arguments
        return _telling(inner, settings, name == "value_and_grad")

    return told


def _telling(inner: Any, settings: dict[str, Any], with_value: bool) -> Any:
    function, has_aux = settings["fun"], settings.get("has_aux", False)
    argnums = settings.get("argnums", 0)
    options = {name: value for name, value in settings.items() if name != "fun"}

    @functools.wraps(inner)
    def differentiate(*args: Any, **kwargs: Any) -> Any:
        listener = tracing.listener()
        if listener is None or tracing.here.inside:
            tracing.note_training()
            return inner(*args, **kwargs)
        traced = tracing.gatherer() is not None
        if not traced and not tracing.is_clean():
            listener.unheard()
            return inner(*args, **kwargs)
        forwards: list[Forward] = []
        watched = _once(function, forwards) if traced else function
        with tracing.inside():
            value, gradients = _original["value_and_grad"](watched, **options)(*args, **kwargs)
        try:
            frame = users_frame(sys._getframe(1))
            line = (frame.f_code, frame.f_lasti) if frame is not None else None
            call = Differentiated(function, args, kwargs, argnums, value[0] if has_aux else value, gradients, line)
            if traced:
                call.trace = tracing.current()
                call.forward = _seen_from_outside(forwards, call)
            keep(call)
            listener.differentiated(call)
        except Exception as error:
            listener.fail(error)
        if with_value:
            return value, gradients
        return (gradients, value[1]) if has_aux else gradients

    return differentiate


def keep(call: Differentiated) -> None:
    for old in [one for one in calls if one.line == call.line]:
        calls.remove(old)
    calls.append(call)


def _once(function: Any, forwards: list[Forward]) -> Any:
    """The function, read as a jaxpr on its way: it runs once, as it would have, and how it computes is known."""

    @functools.wraps(function, updated=())
    def once(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = jax.tree.flatten((args, kwargs))
        moving = [i for i, leaf in enumerate(leaves) if is_array(leaf)]
        shape: list[Any] = []

        def flat(*values: Any) -> Any:
            filled = list(leaves)
            for i, value in zip(moving, values, strict=True):
                filled[i] = value
            arguments, keywords = jax.tree.unflatten(structure, filled)
            results, tree = jax.tree.flatten(function(*arguments, **keywords))
            shape.append((tree, [None if isinstance(one, jax.core.Tracer) else (one,) for one in results]))
            return [one for one in results if isinstance(one, jax.core.Tracer)]

        closed = jax.make_jaxpr(flat)(*(leaves[i] for i in moving))
        tree, known = shape[-1]
        computed = iter(jax.core.eval_jaxpr(closed.jaxpr, closed.consts, *(leaves[i] for i in moving)))
        if known and known[0] is None:
            first = len(closed.consts)
            forwards.append(Forward(closed, list(closed.consts), {i: first + n for n, i in enumerate(moving)}))
        return jax.tree.unflatten(tree, [next(computed) if one is None else one[0] for one in known])

    return once


def _seen_from_outside(forwards: list[Forward], call: Differentiated) -> Forward | None:
    """With the arguments as the caller has them, in place of what stands for them while they are differentiated."""
    if not forwards:
        return None
    forward, leaves = forwards[-1], call.leaves
    given = [leaf if is_array(leaf) else jax.numpy.asarray(leaf) for leaf in (leaves[i] for i in forward.positions)]
    return Forward(forward.closed, [*forward.inputs, *given], forward.positions)


def is_array(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | np.ndarray | np.generic)


def behind(given: Any) -> tuple[Differentiated, Any] | None:
    """The call in the same trace whose gradients an optimiser is given, and those: the very ones, or, where the program
    did something to them, the newest of their shape."""
    trace = None if tracing.is_clean() else tracing.current()
    leaves, structure = jax.tree.leaves(given), jax.tree.structure(given)
    alike: list[tuple[int, Differentiated, Any]] = []
    for call in reversed(calls):
        if call.trace is not trace:
            continue
        for gradients in (call.gradients, *(call.gradients if isinstance(call.argnums, tuple) else ())):
            theirs = jax.tree.leaves(gradients)
            if len(theirs) != len(leaves) or any(np.shape(a) != np.shape(b) for a, b in zip(theirs, leaves)):  # noqa: B905
                continue
            same = all(a is b for a, b in zip(theirs, leaves, strict=True))
            alike.append((2 if same else int(jax.tree.structure(gradients) == structure), call, gradients))
    if not alike:
        return None
    best = max(rank for rank, _, _ in alike)
    return next((call, gradients) for rank, call, gradients in alike if rank == best)


def use(call: Differentiated) -> None:
    """An optimiser was given its gradients, and with them whatever else was taken at the same weights."""
    call.used = True
    ids = {id(one) for one in call.weights}
    for other in calls:
        if other.trace is call.trace and not ids.isdisjoint(id(one) for one in other.weights):
            other.used = True


def forget(trace: Any) -> list[Differentiated]:
    """The trace is over, and its tracers are of no more use: what of it no optimiser was given."""
    gone = [call for call in calls if call.trace is trace]
    for call in gone:
        calls.remove(call)
    return [call for call in gone if not call.used]
