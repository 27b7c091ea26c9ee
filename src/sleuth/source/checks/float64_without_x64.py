"""float64 asked of JAX in a program that never switches 64-bit numbers on."""

from __future__ import annotations

import re

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site

CALLS = tuple(
    f"jax.numpy.{name}"
    for name in "array asarray zeros ones full arange linspace zeros_like ones_like eye float64".split()
)
_SWITCH = re.compile(r"enable_x64|ENABLE_X64")


def call(site: Site) -> Finding | None:
    wide = site.name == "jax.numpy.float64"
    dtype = site.keywords.get("dtype")
    if dtype is not None:
        wide = dtype.dtype == "float64" or dtype.const == "float64"
    if not wide or _SWITCH.search(site.spot.file.text) or site.spot.calls:
        return None
    # In a package the switch may be thrown by whoever imports it.
    alone = "__main__" in site.spot.file.text or not site.spot.file.package
    return tell.found(
        "float64-without-x64",
        site,
        certainty="likely" if alone else "hint",
        severity="warning" if alone else "note",
        chain=[tell.because(site.node, "JAX gives float32 here, with a warning at most", site.spot.file)],
        fixes=[Fix('call jax.config.update("jax_enable_x64", True) first thing in the program')],
    )
