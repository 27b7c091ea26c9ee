"""Listening to JAX and optax, once the program has imported them, with the way back."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import jax

from sleuth.live.jax import differentiated, jitted, loops, optimizers, tracing
from sleuth.live.jax.station import Station
from sleuth.live.wraps import Wraps
from sleuth.program import is_users


def attach(watch: Any, library: str) -> Callable[[], None]:
    """Have the watch hear of training with this library (jax or optax; what others do goes through these)."""
    if library == "optax":
        return _optax.install()
    station = Station(watch)
    watch.guests.append(station)
    tracing.listeners.append(station)
    remove = _jax.install()

    def back() -> None:
        if station in tracing.listeners:
            tracing.listeners.remove(station)
        remove()

    return back


def prepare() -> None:
    """Functions that are made from now on will be heard by a watch that begins later."""
    _jax.install()
    _optax.install()


class _Patches:
    """In place for as long as anyone wants them."""

    def __init__(self, put: Callable[[Wraps], None]) -> None:
        self._put = put
        self._wanted = 0
        self._wraps = Wraps()

    def install(self) -> Callable[[], None]:
        if not self._wanted:
            self._put(self._wraps)
        self._wanted += 1
        there = [self]

        def remove() -> None:
            if there:
                there.clear()
                self._wanted -= 1
                if not self._wanted:
                    self._wraps.remove()

        return remove


def _patch_jax(wraps: Wraps) -> None:
    plain = {name: vars(owner)[name] for owner, name, _ in _FUNCTIONS}
    for owner, name, telling in _FUNCTIONS:
        wraps.wrap(owner, name, _instead(telling))
    _rename(wraps, {id(plain[name]): vars(owner)[name] for owner, name, _ in _FUNCTIONS})


def _instead(telling: Callable[[], Any]) -> Callable[[Any], Any]:
    return lambda plain: telling()


_FUNCTIONS: tuple[tuple[Any, str, Callable[[], Any]], ...] = (
    (jax, "jit", jitted.telling),
    (jax, "grad", lambda: differentiated.telling("grad")),
    (jax, "value_and_grad", lambda: differentiated.telling("value_and_grad")),
    (jax.lax, "scan", loops.telling_scan),
    (jax.lax, "fori_loop", loops.telling_fori_loop),
)


def _rename(wraps: Wraps, replacements: dict[int, Any]) -> None:
    """`from jax import jit`, done before we came: the names in the user's modules, too."""
    for module in list(sys.modules.values()):
        filename = getattr(module, "__file__", None)
        if not isinstance(filename, str) or not is_users(filename):
            continue
        for name, value in list(vars(module).items()):
            if id(value) in replacements:
                wraps.wrap(module, name, lambda plain: replacements[id(plain)])


_jax = _Patches(_patch_jax)
_optax = _Patches(optimizers.listen)
