"""`jax.jit`: functions that stay what they are, and beside each of them one that tells of training in it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import MethodType
from typing import Any

import jax

from sleuth.live.jax import beside, differentiated, tracing
from sleuth.live.jax.beside import Beside, marked, named
from sleuth.live.jax.sights import gather


def telling() -> Callable[..., Any]:
    """`jax.jit`, giving such functions."""
    ours = differentiated.original("jit")

    @functools.wraps(ours)
    def jit(*args: Any, **options: Any) -> Any:
        compiled = ours(*args, **options)
        if tracing.of_jax_itself(sys._getframe(1)):
            return compiled
        if args:
            return Jitted(args[0], options, compiled)
        return lambda function: Jitted(function, options, compiled(function))

    return jit


class Jitted:
    """A function compiled by JAX. All but calling it, from outside, is left to what JAX made of it."""

    def __init__(self, function: Any, options: dict[str, Any], plain: Any) -> None:
        self.__dict__.update(getattr(plain, "__dict__", {}))
        self._function, self._options, self._plain = function, options, plain
        self._beside: Beside | None = None
        self._within = functools.cache(lambda whole: _compiled(_with_sights, function, options, whole))

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if tracing.here.inside or not tracing.is_clean():
            return self._call_within(args, kwargs)
        listener = tracing.listener()
        if self._beside is None:
            if listener is None:
                return self._plain(*args, **kwargs)
            self._beside = _beside(self._function, self._options)
        if listener is None:
            return self._beside.own(*args, **kwargs)[0]
        return self._beside(listener, args, kwargs)

    def _call_within(self, args: Any, kwargs: Any) -> Any:
        """Inside another function that is traced: what is seen comes out with what is told of that one."""
        gatherer, listener = tracing.gatherer(), tracing.listener()
        if gatherer is None or listener is None:
            tracing.note_training()
            return self._plain(*args, **kwargs)
        result, told = self._within(tracing.here.whole)(*args, **kwargs)
        gatherer.sights += told.in_trace((args, kwargs), result)
        return result

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else MethodType(self, owner)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._plain, name)

    @property
    def _made(self) -> list[Any]:
        """What JAX compiles when the program calls."""
        return [self._plain] if self._beside is None else [self._plain, self._beside.own]

    def _cache_size(self) -> int:
        return sum(one._cache_size() for one in self._made)

    def clear_cache(self) -> None:
        for one in self._made:
            one.clear_cache()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Of the kind that JAX makes, for whoever asks."""
        return type(self._plain)

    def __repr__(self) -> str:
        return repr(self._plain)

    def __reduce__(self) -> Any:
        return _again, (self._function, self._options)

    def __deepcopy__(self, memo: Any) -> Jitted:
        return self


def _again(function: Any, options: dict[str, Any]) -> Any:
    return jax.jit(function, **options)


def _beside(function: Any, options: dict[str, Any]) -> Beside:
    own = _compiled(marked, function, options)
    away = "donate_argnums", "donate_argnames"
    # What tells gives nothing away, and nothing that belongs anywhere.
    kept = {name: value for name, value in options.items() if name not in (*away, "out_shardings")}
    return Beside(
        own,
        lambda whole: _compiled(beside.telling, function, kept, whole),
        lambda args, kwargs: own.trace(*args, **kwargs).jaxpr.effects,
        gives_away=any(options.get(name) is not None for name in away),
    )


def _compiled(make: Callable[..., Any], function: Any, options: dict[str, Any], *settings: Any) -> Any:
    """What JAX makes of what `make` makes of the function: something that returns more."""
    shardings = options.get("out_shardings")
    if shardings is not None and type(shardings).__name__ != "UnspecifiedValue":
        options = {**options, "out_shardings": (shardings, None)}
    inner = _for_function.get(function, lambda get: functools.cache(lambda make, *settings: make(get, *settings)))
    return differentiated.original("jit")(inner(make, *settings), **options)


_for_function = tracing.OnceForEach()


def _with_sights(get: Callable[[], Any], whole: bool) -> Any:
    """The function, which also gives what is seen in it to the one that it is called in."""

    @functools.wraps(get(), updated=())
    def traced(*args: Any, **kwargs: Any) -> Any:
        call = functools.partial(get(), *args, **kwargs)
        return gather(call, whole, lambda gatherer, result: gatherer.close((args, kwargs), result))

    return named(traced, get)
