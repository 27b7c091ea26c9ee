"""A function handed to jax.jit or tf.function inside a loop, where it is new to the compiler in every round."""

from __future__ import annotations

import ast
from typing import Any

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site

_JAX = ("jax.jit", "jax.pmap", "equinox.filter_jit", "flax.nnx.jit")
_DECORATORS = ("@jax.jit", "@jax.pmap", "@tensorflow.function", "@equinox.filter_jit", "@flax.nnx.jit")
CALLS = (*_JAX, "tensorflow.function", *_DECORATORS)


def call(site: Site) -> Finding | None:
    around = _repeated(site)
    if around is None:
        return None
    given = site.node if site.name.startswith("@") else site.node.args[0] if site.node.args else None
    # JAX knows a function again that was defined outside; a lambda, a partial, a gradient is a new one each time.
    if given is None or (site.name in _JAX and not isinstance(given, ast.Lambda | ast.Call)):
        return None
    if _reads(given) & _binds(around, given):
        return None
    compiler = site.name.lstrip("@")
    when = "each round of this loop" if _is_loop(around) else "each call, in a loop,"
    return tell.found(
        "compiled-in-the-loop",
        site,
        title=f"{compiler} in a loop compiles in every round",
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(around, when, site.spot.file),
            tell.because(site.node, f"makes a function that is new to {compiler}, and compiles it", site.spot.file),
        ],
        fixes=[Fix("compile once, before the loop, and call the result inside")],
    )


def _repeated(site: Site) -> Any:
    """The loop the call is written in, or the function around it that a loop calls."""
    loop: Any = site.spot.loops[-1] if site.spot.loops else None
    if not _is_loop(loop):
        return None
    function = site.spot.function
    written_inside = loop.lineno <= site.node.lineno <= (loop.end_lineno or loop.lineno)
    if written_inside and (function is None or loop.lineno >= function.node.lineno):
        return loop
    # A class is made once in a while; a plain function that is called in a loop runs in every round.
    return function.node if function is not None and function.name != "__init__" and site.spot.calls else None


def _is_loop(node: Any) -> bool:
    return isinstance(node, ast.For | ast.While)


def _reads(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def _binds(around: ast.AST, besides: ast.AST) -> set[str]:
    """The names that are set anew each time, outside of the function itself: what it reads of them differs."""
    inside = {id(one) for one in ast.walk(besides)}
    outside = [one for one in ast.walk(around) if id(one) not in inside]
    stored = {one.id for one in outside if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
    return stored | {one.arg for one in outside if isinstance(one, ast.arg)}
