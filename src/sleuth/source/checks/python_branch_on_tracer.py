"""A Python `if` or `while` on a number that is a tracer inside a function compiled by jax.jit."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.jitted import traced_parameters, tracer_in
from sleuth.source.sites import Site

CALLS = ("if",)
# Identity and membership are asked of Python objects, which a tracer is as well.
_OF_NUMBERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


def call(site: Site) -> Finding | None:
    traced = traced_parameters(site.spot.function)
    if not traced or site.result.op != "compare" or not isinstance(site.node, ast.Compare):
        return None
    if not all(isinstance(operator, _OF_NUMBERS) for operator in site.node.ops):
        return None
    if any(isinstance(value.const, str) or value.kind in ("none", "text", "dtype") for value in site.result.inputs):
        return None
    parameter = tracer_in(site.result, traced)
    if parameter is None:
        return None
    name = parameter.op.removeprefix("param:")
    return tell.found(
        "python-branch-on-tracer",
        site,
        title=f"Python branches on {name}, which is a tracer under jax.jit",
        chain=[tell.because(parameter, f"{name} is traced: inside the compiled function it has no value yet")],
        fixes=[Fix("use jnp.where or jax.lax.cond, or make the argument static with static_argnames")],
    )
