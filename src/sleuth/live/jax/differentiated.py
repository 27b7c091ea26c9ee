"""What the program differentiates: `jax.grad` and `jax.value_and_grad` tell of each call, and do as they always did."""

from __future__ import annotations

import functools
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any

import jax

from sleuth.program import users_frame

# Of each line the newest call is kept, and a few lines: programs with several optimisers differentiate several losses.
_KEPT = 8


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


calls: deque[Differentiated] = deque(maxlen=_KEPT)
_original: dict[str, Any] = {}


def listen() -> None:
    """From now on `jax.grad` and `jax.value_and_grad` tell. Functions made with them before do not."""
    if not _original:
        for name, told in (("value_and_grad", _value_and_grad), ("grad", _grad), ("jit", _jit)):
            _original[name] = getattr(jax, name)
            setattr(jax, name, functools.wraps(_original[name])(told))


def original(name: str) -> Any:
    return _original.get(name) or getattr(jax, name)


def _value_and_grad(fun: Any, argnums: Any = 0, has_aux: bool = False, **options: Any) -> Any:
    return _Gradient(fun, argnums, has_aux, options, with_value=True)


def _grad(fun: Any, argnums: Any = 0, has_aux: bool = False, **options: Any) -> Any:
    return _Gradient(fun, argnums, has_aux, options, with_value=False)


class _Gradient:
    """What `jax.value_and_grad(f)` gives: a callable that also tells."""

    def __init__(self, fun: Any, argnums: Any, has_aux: bool, options: dict[str, Any], with_value: bool) -> None:
        self.fun, self.argnums, self.has_aux, self.with_value = fun, argnums, has_aux, with_value
        self._inner = _original["value_and_grad"](fun, argnums, has_aux, **options)
        functools.update_wrapper(self, self._inner)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else functools.partial(self, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        value, gradients = self._inner(*args, **kwargs)
        self.tell(args, kwargs, value, gradients)
        if self.with_value:
            return value, gradients
        return (gradients, value[1]) if self.has_aux else gradients

    def tell(self, args: Any, kwargs: Any, value: Any, gradients: Any) -> None:
        frame = users_frame(sys._getframe(1))
        line = (frame.f_code, frame.f_lasti) if frame is not None else None
        loss = value[0] if self.has_aux else value
        for old in [call for call in calls if call.line == line]:
            calls.remove(old)
        calls.append(Differentiated(self.fun, args, kwargs, self.argnums, loss, gradients, line))


def _jit(fun: Any = None, /, **options: Any) -> Any:
    if fun is None:
        return functools.partial(_jit, **options)
    compiled = _original["jit"](fun, **options)
    return _JittedGradient(fun, compiled) if isinstance(fun, _Gradient) and fun.with_value else compiled


class _JittedGradient:
    """`jax.jit(jax.value_and_grad(f))`: only out here are its arguments and results numbers."""

    def __init__(self, gradient: _Gradient, compiled: Any) -> None:
        self._gradient, self._compiled = gradient, compiled
        functools.update_wrapper(self, compiled)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        value, gradients = self._compiled(*args, **kwargs)
        self._gradient.tell(args, kwargs, value, gradients)
        return value, gradients

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiled, name)


def behind(given: Any) -> tuple[Differentiated, Any] | None:
    """The newest call in the same trace whose gradients have the shape of what the optimiser is given, and those."""
    structure, leaves = jax.tree.structure(given), jax.tree.leaves(given)
    for call in reversed(calls):
        candidates = [call.gradients, *(call.gradients if isinstance(call.argnums, tuple) else ())]
        for gradients in candidates:
            if jax.tree.structure(gradients) == structure and _one_trace(jax.tree.leaves(gradients), leaves):
                return call, gradients
    return None


def _one_trace(some: list[Any], others: list[Any]) -> bool:
    return all(_trace(a) is _trace(b) for a, b in zip(some, others, strict=True))


def _trace(value: Any) -> Any:
    return getattr(value, "_trace", None) if isinstance(value, jax.core.Tracer) else None
