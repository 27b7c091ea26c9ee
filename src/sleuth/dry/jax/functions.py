"""`jax.jit`, `jax.grad` and `jax.value_and_grad`, as in the rehearsal: traced before they run, and counted."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax

from sleuth.dry.jax import cost, indices, silent, zeros
from sleuth.program import is_users, users_place

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


def install(stage: Stage) -> None:
    purse = cost.Purse()
    for name in ("grad", "value_and_grad"):
        stage.patches.set(jax, name, _differentiating(stage, purse, getattr(jax, name)))
    stage.patches.set(jax, "jit", _jit(stage, purse, jax.jit))


def _differentiating(stage: Stage, purse: cost.Purse, original: Any) -> Any:
    @functools.wraps(original)
    def differentiated(fun: Any, *args: Any, **kwargs: Any) -> Any:
        function = original(fun, *args, **kwargs)

        @functools.wraps(function)
        def told(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            purse.gradients += 1
            if not _is_traced(result):
                stage.acts["backward"] += 1
            return result

        return told

    return differentiated


def _jit(stage: Stage, purse: cost.Purse, original: Any) -> Any:
    @functools.wraps(original)
    def jit(fun: Any = None, /, **options: Any) -> Any:
        if fun is None:
            return functools.partial(jit, **options)
        compiled = original(fun, **options)
        frame = sys._getframe(1)
        return Jitted(stage, purse, compiled) if is_users(frame.f_code.co_filename) or _is_users(fun) else compiled

    jit.__sleuth__ = True  # type: ignore[attr-defined]
    return jit


def _is_users(fun: Any) -> bool:
    code = getattr(fun, "__code__", None)
    return code is not None and is_users(code.co_filename)


class Jitted:
    """What `jax.jit(f)` gives: before a call is computed, its shapes are."""

    def __init__(self, stage: Stage, purse: cost.Purse, compiled: Any) -> None:
        self._stage, self._purse, self._compiled = stage, purse, compiled
        self._trains = False
        functools.update_wrapper(self, compiled)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else functools.partial(self, owner)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiled, name)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """By name, like `lower`: this is how JAX tells what `jit` has made from other functions."""
        return self._compiled.trace(*args, **kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled.lower(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _is_traced((args, kwargs)):
            return self._compiled(*args, **kwargs)
        before = self._purse.gradients
        traced = self._compiled.trace(*args, **kwargs)
        self._trains |= self._purse.gradients > before
        _quietly(silent.look, self._stage, traced.jaxpr)
        _quietly(indices.look, self._stage, traced, args, kwargs)
        result = self._answer(traced, args, kwargs)
        self._stage.acts["step" if self._trains else "forward"] += 1
        return result

    def _answer(self, traced: Any, args: Any, kwargs: Any) -> Any:
        if self._purse.affords(traced.jaxpr) and not self._stage.fake:
            return self._compiled(*args, **kwargs)
        name = getattr(self, "__name__", "the function")
        what = f"{name} is too big to run here: its results are zeros of the right shape"
        self._stage.journal.assume(users_place(sys._getframe(2)), what)
        return zeros.like(traced.out_info)


def _is_traced(value: Any) -> bool:
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(value))


def _quietly(look: Callable[..., None], *args: Any) -> None:
    """What only looks must never end the rehearsal: a jaxpr of another version of JAX may hold anything."""
    try:
        look(*args)
    except Exception:
        return
