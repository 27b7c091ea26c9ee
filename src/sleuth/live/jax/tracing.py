"""Where the program stands in JAX's tracing: outside of any, in a function that we follow, or somewhere else."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, FunctionType
from typing import Any

from jax._src import core


class _Here(threading.local):
    """What goes on in this thread."""

    def __init__(self) -> None:
        self.gatherers: list[Any] = []
        # Inside a differentiated function or an optimiser's update: what is done there is a part of that.
        self.inside = 0
        # The trace of a function of the program's, as it is, while that goes on.
        self.own: Any = None
        # Who is told of what is done again, whether or not the program is still watched.
        self.listener: Any = None
        # Of loops every round is told, and not the first ones alone.
        self.whole = True


here = _Here()
# Those who listen to the program, the newest last.
listeners: list[Any] = []


def listener() -> Any:
    """Who is to be told; None where nobody listens now."""
    if here.listener is not None:
        return here.listener
    newest = listeners[-1] if listeners else None
    return newest if newest is not None and newest.listens else None


def is_clean() -> bool:
    """Is nothing being traced: are all numbers numbers?"""
    return bool(core.trace_state_clean())


def current() -> Any:
    """The trace that operations of this thread go to."""
    return core.trace_ctx.trace


def gatherer() -> Any:
    """Who gathers what is seen in the trace that the program is in; None inside vmap, a loop or a derivative."""
    top = here.gatherers[-1] if here.gatherers else None
    return top if top is not None and not here.inside and top.trace is current() else None


@contextmanager
def gathering(one: Any, whole: bool) -> Iterator[None]:
    """What is seen from now on is gathered; of loops every round (`whole`), or the first ones."""
    before, here.whole = here.whole, whole
    here.gatherers.append(one)
    try:
        yield
    finally:
        here.gatherers.pop()
        here.whole = before


@contextmanager
def tracing_own(trace: Any) -> Iterator[None]:
    """The program's function is traced as it is; that it trains is noted in `trace`."""
    before, here.own = here.own, trace
    try:
        with inside():
            yield
    finally:
        here.own = before


def note_training() -> None:
    if here.own is not None:
        here.own.trains = True


@contextmanager
def again(listener: Any) -> Iterator[None]:
    """Something of the program's is done once more, for the listener, as if from outside of everything."""
    before = here.inside, here.listener
    here.inside, here.listener = 0, listener
    try:
        yield
    finally:
        here.inside, here.listener = before


@contextmanager
def inside() -> Iterator[None]:
    here.inside += 1
    try:
        yield
    finally:
        here.inside -= 1


def of_jax_itself(frame: FrameType) -> bool:
    """Is it JAX that calls, for purposes of its own?"""
    name = frame.f_globals.get("__name__", "")
    return bool(name == "jax" or name.startswith(("jax.", "jaxlib.")))


class OnceForEach:
    """What is made of a function, made once for as long as the function lives: JAX compiles once for one function."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}

    def get(self, function: Any, make: Callable[[Callable[[], Any]], Any]) -> Any:
        """`make` is given a way to get at the function, so that what it makes need not keep it alive."""
        if not isinstance(function, FunctionType):
            return make(lambda: function)
        key = id(function)
        known = self._made.get(key)
        if known is not None and known[0]() is function:
            return known[1]
        reference = weakref.ref(function, lambda _: self._made.pop(key, None))
        made = make(reference)
        self._made[key] = reference, made
        return made
