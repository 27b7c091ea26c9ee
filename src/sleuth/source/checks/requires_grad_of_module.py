"""`module.requires_grad = False`: an attribute nobody reads, where `requires_grad_(False)` would freeze."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Assignment
from sleuth.source.values import Value
from sleuth.source.weights import is_torch_module


def assignment(a: Assignment) -> Finding | None:
    if a.attribute != "requires_grad" or not isinstance(a.value.const, bool):
        return None
    if not (is_torch_module(a.base) or a.base.op == "child") or _has_its_own(a.base):
        return None
    frozen = a.value.const is False
    name = a.spot.file.source(a.target.value)
    alone = isinstance(a.node, ast.Assign) and len(a.node.targets) == 1
    edits = (tell.replace(a.spot.file, a.node, f"{name}.requires_grad_({a.value.const})"),) if alone else ()
    return tell.found(
        "requires-grad-of-module",
        a,
        title=f"{name} is a module: this {'freezes' if frozen else 'unfreezes'} nothing",
        certainty="certain" if frozen else "likely",
        severity="error" if frozen else "warning",
        chain=[tell.because(a.base, f"{name} is a module; only its parameters have requires_grad")],
        fixes=[Fix(f"{name}.requires_grad_({a.value.const}) sets it for all its parameters", edits)],
    )


def _has_its_own(base: Value) -> bool:
    """A class of the project that gives the name a meaning."""
    if base.kind != "instance":
        return False
    info = base.info
    return (
        info is None
        or not is_torch_module(base)
        or info.method("requires_grad") is not None
        or any("requires_grad" in one.attrs for one in info.lineage())
    )
