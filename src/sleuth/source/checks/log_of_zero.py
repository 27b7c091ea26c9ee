"""The logarithm of a value that an operation before it makes exactly 0: a ReLU, a clamp at 0, 1 - tanh(x)**2."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import limits, tell
from sleuth.source.sites import Site

OPERATIONS = ("log", "log2", "log10")
_MAKES = {
    "relu": "a ReLU gives exactly 0 for every negative input",
    "clamp": "the clamp gives exactly 0 for everything below",
    "maximum": "the maximum gives exactly 0 for everything below",
    "tanh": "tanh is exactly 1 or -1 from about x = 9 on in float32",
    "one_hot": "one-hot rows hold zeros",
    "cosine_similarity": "the cosine of two equal vectors is 1",
}


def operation(site: Site) -> Finding | None:
    reached = limits.zero_in_log(site)
    if reached is None or reached.lost is not None or reached.source.op not in _MAKES:
        return None
    return tell.found(
        "log-of-zero",
        site,
        title="log of a value that can be 0",
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(reached.source, _MAKES[reached.source.op]),
            tell.because(site.node, "the log of that is -inf", site.spot.file),
        ],
        fixes=[Fix("add a small number inside the log, or clamp its argument: log(x.clamp(min=1e-8))")],
    )
