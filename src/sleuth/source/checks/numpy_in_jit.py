"""A NumPy function on a tracer inside a function compiled by jax.jit."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.jitted import traced_parameters, tracer_in
from sleuth.source.sites import Site

# Functions that ask for the array itself. np.sum, np.mean and their like call the tracer's own method, and work.
OPERATIONS = tuple(
    "exp log log1p log2 log10 expm1 sqrt square abs sin tanh maximum minimum add sub mul div pow matmul where "
    "isnan tensor "
    "stack cat acos asin".split()
)


def operation(site: Site) -> Finding | None:
    if not site.name.startswith("numpy."):
        return None
    traced = traced_parameters(site.spot.function)
    if not traced:
        return None
    parameter = next((found for value in site.operands if (found := tracer_in(value, traced)) is not None), None)
    if parameter is None:
        return None
    name = parameter.op.removeprefix("param:")
    function = site.name.removeprefix("numpy.")
    called = site.node.func if isinstance(site.node, ast.Call) else site.node
    return tell.found(
        "numpy-in-jit",
        site,
        node=site.node,
        title=f"np.{function} gets {name}, which is a tracer under jax.jit",
        chain=[tell.because(parameter, f"{name} is traced: NumPy asks for its numbers, and it has none yet")],
        fixes=[Fix(f"use jnp.{function} instead of {site.spot.file.source(called)}")],
    )
