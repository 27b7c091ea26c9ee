"""A print of a tracer inside a function compiled by jax.jit: it runs once, while tracing."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.jitted import traced_parameters, tracer_in
from sleuth.source.sites import Site

CALLS = ("builtins.print", "sequence.append", "time.time", "numpy.random.normal", "numpy.random.rand", "random.random")


def call(site: Site) -> Finding | None:
    traced = traced_parameters(site.spot.function)
    if traced is None:
        return None
    if site.name in ("builtins.print", "sequence.append"):
        parameter = next((found for value in site.args if (found := tracer_in(value, traced)) is not None), None)
        if parameter is None or (site.name == "sequence.append" and not _is_outside(site)):
            return None
    what, instead = _WORDS.get(site.name, ("draws or reads", "pass the value in as an argument"))
    return tell.found(
        "side-effect-in-jit",
        site,
        title=f"a compiled function {what} while it is traced, and never again",
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(
                site.node, "Python runs this line when JAX traces the function, not at each call", site.spot.file
            )
        ],
        fixes=[Fix(instead)],
    )


_WORDS = {
    "builtins.print": ("prints", "use jax.debug.print, which prints the numbers at each call"),
    "sequence.append": ("appends to a list outside", "return the value instead of appending it"),
    "time.time": ("reads the clock", "measure around the call, and wait with block_until_ready()"),
}


def _is_outside(site: Site) -> bool:
    """Is the list that is appended to made outside the compiled function?"""
    function, made = site.spot.function, site.receiver
    if function is None or made is None or made.node is None or made.unit is not function.file:
        return False
    start, end = function.node.lineno, function.node.end_lineno or 0
    return not start <= made.line <= end
