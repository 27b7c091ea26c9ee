"""non_blocking=True for batches of a DataLoader that does not pin its memory."""

from __future__ import annotations

import ast

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, ancestors

CALLS = ("tensor.to", "tensor.cuda")


def call(site: Site) -> Finding | None:
    asked = site.keywords.get("non_blocking")
    if asked is None or asked.const is not True:
        return None
    loader = _loader_of(site.operands[0])
    if loader is None or not loader.options or loader.option("pin_memory") is not None:
        return None
    edits: tuple[Edit, ...] = ()
    if (
        isinstance(loader.node, ast.Call)
        and loader.unit is not None
        and not any(k.arg is None for k in loader.node.keywords)
    ):
        edits = (tell.add_argument(loader.unit, loader.node, "pin_memory=True"),)
    return tell.found(
        "non-blocking-without-pin-memory",
        site,
        certainty="hint",
        severity="note",
        chain=[tell.because(loader, "the batches lie in ordinary memory, from which a copy has to wait")],
        fixes=[Fix("make the DataLoader with pin_memory=True", edits)],
    )


def _loader_of(value: Value) -> Value | None:
    """The DataLoader a batch comes from, where it comes straight from one."""
    if value.op != "batch":
        return None
    return next((one for one in ancestors(value, most=6) if one.kind == "loader"), None)
