"""`lax.scan` and `lax.fori_loop` over steps of training: what is told of each round piles up."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import jax
import numpy as np

from sleuth.live.jax import differentiated, stepping, tracing
from sleuth.live.jax.beside import Beside, Mark, Trace, telling
from sleuth.live.jax.sights import gather

_scan, _fori_loop = jax.lax.scan, jax.lax.fori_loop
_for_loop, _for_body, _for_step = tracing.OnceForEach(), tracing.OnceForEach(), tracing.OnceForEach()


def telling_scan() -> Callable[..., Any]:
    """`lax.scan`, whose rounds tell."""
    signature = inspect.signature(_scan)

    @functools.wraps(_scan)
    def scan(*args: Any, **kwargs: Any) -> Any:
        if not _wanted(sys._getframe(1)):
            return _scan(*args, **kwargs)
        settings = signature.bind(*args, **kwargs).arguments
        if tracing.gatherer() is not None:
            return _told_scan(settings)
        values: dict[str, Any] = {name: settings.pop(name) for name in ("init", "xs") if name in settings}
        return _outside(_scan, settings.pop("f"), "f", settings, values)

    return scan


def telling_fori_loop() -> Callable[..., Any]:
    """`lax.fori_loop`: between bounds that are known it is a scan, as JAX itself has it."""
    signature = inspect.signature(_fori_loop)

    @functools.wraps(_fori_loop)
    def fori_loop(*args: Any, **kwargs: Any) -> Any:
        settings = signature.bind(*args, **kwargs).arguments
        bounds = [settings["lower"], settings["upper"]]
        if not _wanted(sys._getframe(1)) or not all(isinstance(b, int | np.integer) for b in bounds):
            return _fori_loop(*args, **kwargs)
        if tracing.gatherer() is None:
            values = {"init_val": settings.pop("init_val")}
            return _outside(_fori_loop, settings.pop("body_fun"), "body_fun", settings, values)
        lower, upper = (int(b) for b in bounds)
        (_, result), _ = _told_scan(
            {
                "f": _for_step.get(settings["body_fun"], _counting),
                "init": (lower, settings["init_val"]),
                "length": max(upper - lower, 0),
                "unroll": settings.get("unroll") or False,
            }
        )
        return result

    return fori_loop


def _wanted(frame: FrameType) -> bool:
    """May there be steps of training in a loop that begins here?"""
    if tracing.of_jax_itself(frame) or jax.config.jax_disable_jit:
        return False
    if tracing.here.inside:
        # JAX may know what is done in it from another time.
        tracing.note_training()
        return False
    return tracing.listener() is not None and (tracing.is_clean() or tracing.gatherer() is not None)


def _outside(loop: Any, body: Any, name: str, settings: dict[str, Any], values: dict[str, Any]) -> Any:
    """A loop outside of any trace is itself, and beside it is what tells of it."""
    made = _for_loop.get(body, lambda get: functools.cache(functools.partial(_beside, loop, get, name)))
    return made(tuple(settings.items()))(tracing.listener(), (), values)


def _beside(loop: Any, get: Callable[[], Any], name: str, settings: tuple[tuple[str, Any], ...]) -> Beside:
    trace = Trace()

    def own(**values: Any) -> Any:
        with tracing.tracing_own(trace):
            return loop(**{name: get()}, **dict(settings), **values), Mark(trace)

    def again(**values: Any) -> Any:
        return getattr(jax.lax, loop.__name__)(**{name: get()}, **dict(settings), **values)

    jit = differentiated.original("jit")
    return Beside(
        own,
        lambda whole: jit(telling(lambda: again, whole)),
        lambda _, values: jit(own).trace(**values).jaxpr.effects,
    )


def _told_scan(settings: dict[str, Any]) -> Any:
    """Of a long loop the first rounds, where no more is wanted: its results are nobody's."""
    leaves = jax.tree.leaves(settings.get("xs"))
    length = settings.get("length") if settings.get("length") is not None else len(leaves[0]) if leaves else None
    if length is None or settings.get("reverse"):
        return _scan(**settings)
    rounds = length if tracing.here.whole else stepping.told_rounds(length)
    xs = jax.tree.map(lambda x: x[:rounds], settings.get("xs")), np.arange(rounds, dtype=np.int32)
    body = _for_body.get(settings["f"], lambda get: functools.cache(functools.partial(_with_sights, get)))
    body = body(rounds, length, tracing.here.whole)
    carry, (results, told) = _scan(**{**settings, "f": body, "xs": xs, "length": rounds})
    if rounds < length:
        results = jax.tree.map(lambda r: r[np.arange(length) % rounds], results)
    gatherer = tracing.gatherer()
    gatherer.sights += told.in_trace((), results)
    return carry, results


def _with_sights(get: Callable[[], Any], rounds: int, length: int, whole: bool) -> Any:
    @functools.wraps(get(), updated=())
    def body(carry: Any, round: Any) -> Any:
        x, index = round
        (carry, result), told = gather(
            lambda: get()(carry, x),
            whole,
            lambda gatherer, result: gatherer.close_round(index, rounds, length, result[1]),
        )
        return carry, (result, told)

    return body


def _counting(get: Callable[[], Any]) -> Any:
    def rounds(carry: Any, _: Any) -> Any:
        i, value = carry
        return (i + 1, get()(i, value)), None

    return rounds
