"""Optimisers of optax: `update` tells what it is given. Optimisers and their states stay what they are."""

from __future__ import annotations

import contextlib
import functools
import math
import sys
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from types import CodeType
from typing import Any

import jax

from sleuth.findings import Place
from sleuth.live.jax import tracing
from sleuth.live.jax.differentiated import original
from sleuth.live.wraps import Wraps
from sleuth.program import place_of, users_frame

# By the function that updates: the line on which the optimiser was made, and whether outside of any trace.
_made: weakref.WeakKeyDictionary[Any, tuple[CodeType, int, bool]] = weakref.WeakKeyDictionary()
_OURS = "__sleuth_told__"


def listen(wraps: Wraps) -> None:
    """From now on every optimiser tells, whenever it was made."""
    import optax

    kind = optax.GradientTransformation
    new = kind.__new__
    kind.__new__ = functools.wraps(new)(_noting_the_line(new))
    wraps.also_undo(functools.partial(setattr, kind, "__new__", new))
    for number, name in enumerate(("init", "update")):
        plain = kind.__dict__[name]
        setattr(kind, name, _Field(number, plain))
        wraps.also_undo(functools.partial(setattr, kind, name, plain))
        wraps.wrap(optax.MultiSteps, name, functools.partial(_method, name))


def _noting_the_line(new: Any) -> Any:
    def told(cls: Any, *args: Any, **kwargs: Any) -> Any:
        made = new(cls, *args, **kwargs)
        frame = users_frame(sys._getframe(1))
        if frame is not None:
            _made.setdefault(made[1], (frame.f_code, frame.f_lasti, tracing.is_clean()))
        return made

    return told


class _Field:
    """In place of a field of the named tuple: gives the function that is there, which tells when it is called."""

    def __init__(self, number: int, plain: Any) -> None:
        self._number, self._plain = number, plain
        self.__doc__ = plain.__doc__

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        if owner is None:
            return self._plain
        function = owner[self._number]
        if tracing.listener() is None:
            return function
        known = getattr(function, _OURS, None)
        if known is not None and known.__wrapped__ is function:
            return known
        made = _telling(("init", "update")[self._number], function, Optimizer(owner[0], owner[1]))
        with contextlib.suppress(AttributeError):
            # With the function it goes, too: the program may ask for it again, and compile it.
            setattr(function, _OURS, made)
        return made


def _telling(name: str, function: Any, optimizer: Optimizer) -> Any:
    @functools.wraps(function, updated=())
    def told(*args: Any, **kwargs: Any) -> Any:
        return _tell(name, functools.partial(function, *args, **kwargs), optimizer, args, kwargs)

    return told


def _method(name: str, function: Any) -> Any:
    def told(self: Any, *args: Any, **kwargs: Any) -> Any:
        init, update = (functools.partial(vars(type(self))[n].__wrapped__, self) for n in ("init", "update"))
        return _tell(
            name, functools.partial(function, self, *args, **kwargs), Optimizer(init, update, self), args, kwargs
        )

    return told


def _tell(name: str, do: Callable[[], Any], optimizer: Optimizer, args: Any, kwargs: Any) -> Any:
    """An optimiser inside another one, or in what is differentiated, is a part of that."""
    listener = tracing.listener()
    if listener is None or tracing.here.inside:
        tracing.note_training()
        return do()
    with tracing.inside():
        result = do()
    try:
        if name == "init":
            listener.begins(optimizer, *args, **kwargs)
        else:
            listener.updates(optimizer, *args, **kwargs)
    except Exception as error:
        listener.fail(error)
    return result


@dataclass(eq=False)
class Optimizer:
    """An optimiser as its plain functions, and what can be read off them."""

    init: Any
    update: Any
    # What it is known by, where that is not the function.
    identity: Any = None

    @property
    def key(self) -> int:
        return id(self.identity if self.identity is not None else self.update)

    @cached_property
    def _parts(self) -> list[tuple[Any, str, Any]]:
        steps: Any = self.identity if self.identity is not None else getattr(self.update, "__self__", None)
        return list(_cells(steps._opt[1] if hasattr(steps, "_opt") else self.update))

    @property
    def made(self) -> Place | None:
        """The line that sets its learning rate, or else that makes the whole."""
        found = [_made.get(part) for part, name, _ in self._parts if (_maker(part), name) in _RATES]
        line = next((one for one in found if one is not None), None) or _made.get(self.update)
        return place_of(*line[:2]) if line is not None else None

    @property
    def line(self) -> tuple[CodeType, int] | None:
        found = _made.get(self.update)
        return found[:2] if found is not None else None

    @property
    def made_in_trace(self) -> bool:
        """Is it made anew each time a function is traced?"""
        found = _made.get(self.update)
        return found is not None and not found[2]

    @property
    def kind(self) -> str:
        for part, _, _ in self._parts:
            maker = _maker(part)
            if maker.startswith("scale_by_") and maker not in ("scale_by_learning_rate", "scale_by_schedule"):
                return maker.removeprefix("scale_by_")
        return "the optimiser"

    @property
    def settings(self) -> dict[str, float]:
        return {
            _SETTINGS[_maker(part), name]: float(value)
            for part, name, value in self._parts
            if (_maker(part), name) in _SETTINGS and isinstance(value, int | float)
        }

    def rate(self) -> Callable[[int], float]:
        """The learning rate by step, read from what the optimiser holds; NaN where it does not tell."""
        fixed = [abs(float(v)) for p, name, v in self._parts
                 if (_maker(p), name) == ("scale", "step_size") and isinstance(v, int | float)]  # fmt: skip
        schedules = [v for p, name, v in self._parts if (_maker(p), name) == ("scale_by_schedule", "step_size_fn")]
        if not fixed and not schedules:
            return lambda step: math.nan
        compiled = [original("jit")(schedule) for schedule in schedules]

        def rate(step: int) -> float:
            try:
                return math.prod(fixed) * math.prod(abs(float(schedule(step))) for schedule in compiled)
            except Exception:
                return math.nan

        return rate


_RATES = (("scale", "step_size"), ("scale_by_schedule", "step_size_fn"))
_SETTINGS = {("add_decayed_weights", "weight_decay"): "weight_decay", ("trace", "decay"): "momentum"}


def _maker(function: Any) -> str:
    return str(getattr(function, "__qualname__", "")).partition(".")[0]


def _cells(function: Any, depth: int = 8) -> Iterator[tuple[Any, str, Any]]:
    """What an optimiser is made of: (a function in it, the name of a setting of that, its value)."""
    code, closure = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    if code is None or closure is None or not depth:
        return
    for name, cell in zip(code.co_freevars, closure, strict=True):
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        yield function, name, value
        for part in value if isinstance(value, tuple | list) else (value,):
            for one in part if isinstance(part, tuple) else (part,):
                if callable(one):
                    yield from _cells(one, depth - 1)


def rate_in(state: Any) -> Any:
    """The learning rate that an optimiser's state holds, as that of `inject_hyperparams` does."""
    found = jax.tree.leaves(state, is_leaf=lambda node: isinstance(getattr(node, "hyperparams", None), dict))
    for node in found:
        rate = getattr(node, "hyperparams", {}).get("learning_rate")
        if rate is not None:
            return rate
    return None
