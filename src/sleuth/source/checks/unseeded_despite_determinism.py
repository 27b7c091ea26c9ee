"""A program that asks for determinism and never sets a seed."""

from __future__ import annotations

import re

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site

CALLS = ("torch.use_deterministic_algorithms", "tensorflow.config.experimental.enable_op_determinism")
_SEED = re.compile(r"seed", re.IGNORECASE)


def call(site: Site) -> Finding | None:
    file = site.spot.file
    asked = site.operands[0].const is not False if site.operands else True
    if not asked or _SEED.search(file.text) or ("__main__" not in file.text and file.package):
        return None
    return tell.found(
        "unseeded-despite-determinism",
        site,
        certainty="hint",
        severity="note",
        chain=[tell.because(site.node, "the algorithms are deterministic; what they start from is not", file)],
        fixes=[Fix("call torch.manual_seed(…) at the start, and seed NumPy and random where they are used")],
    )
