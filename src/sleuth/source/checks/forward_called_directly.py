"""network.forward(x) instead of network(x): hooks do not run."""

from __future__ import annotations

import ast

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import tell, weights
from sleuth.source.sites import Site

CALLS = ("module.forward", "instance.forward")


def call(site: Site) -> Finding | None:
    receiver, func = site.receiver, site.node.func
    if receiver is None or receiver.op == "self" or not weights.is_torch_module(receiver):
        return None
    if not isinstance(func, ast.Attribute):
        return None
    if isinstance(func.value, ast.Call) and isinstance(func.value.func, ast.Name) and func.value.func.id == "super":
        return None
    if isinstance(func.value, ast.Name) and func.value.id == "self":
        return None
    file = site.spot.file
    _, (line, column) = file.span(func.value)
    _, (end_line, end_column) = file.span(func)
    called = file.source(func.value)
    return tell.found(
        "forward-called-directly",
        site,
        certainty="hint",
        severity="note",
        fixes=[Fix(f"call {called}(...)", (Edit(file.shown, line, column, end_line, end_column, ""),))],
    )
