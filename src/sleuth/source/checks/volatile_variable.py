"""`Variable(x, volatile=True)`, which no longer keeps gradients from being recorded."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.changes.arguing import without
from sleuth.source.changes.guards import is_guarded
from sleuth.source.changes.naming import is_elsewhere
from sleuth.source.scopes import File
from sleuth.source.sites import Assignment, Site
from sleuth.source.targets import allowed_for

CALLS = ("torch.autograd.Variable",)
# volatile has had no effect since PyTorch 0.4.
_IGNORED_SINCE = (0, 4)


def call(site: Site) -> Finding | None:
    given = next((one for one in site.node.keywords if one.arg == "volatile"), None)
    if given is None or is_elsewhere(site.spot) or _is_false(given.value) or not _matters(site.spot.file, site.node):
        return None
    edits = without(site.spot.file, site.node, given)
    return tell.found(
        "volatile-variable",
        site,
        severity="warning",
        fixes=[Fix("leave volatile out and put the forward pass under `with torch.no_grad():`", tuple(edits))],
    )


def assignment(a: Assignment) -> Finding | None:
    if (
        a.attribute != "volatile"
        or a.base.kind != "tensor"
        or a.value.const is False
        or not _matters(a.spot.file, a.node)
    ):
        return None
    return tell.found(
        "volatile-variable",
        a,
        severity="warning",
        fixes=[Fix("put the forward pass under `with torch.no_grad():`")],
    )


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _matters(file: File, node: ast.AST) -> bool:
    return allowed_for(file, "torch").always_has(_IGNORED_SINCE) and not is_guarded(file, node)
