"""torch.cuda.empty_cache() in every step of a loop."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site

CALLS = ("torch.cuda.empty_cache",)


def call(site: Site) -> Finding | None:
    loops = [loop for loop in site.spot.loops if isinstance(loop, ast.For | ast.While)]
    # Once an epoch costs nothing worth mentioning, and every so many steps is somebody's choice.
    if len(loops) < 2 or any(isinstance(node, ast.Mod) for test in site.spot.tests for node in ast.walk(test)):
        return None
    return tell.found(
        "empty-cache-in-loop",
        site,
        certainty="hint",
        severity="note",
        chain=[tell.because(site.node, "this happens in each round of the inner loop", site.spot.file)],
        fixes=[Fix("leave it out, or call it once between phases that need different memory")],
    )
