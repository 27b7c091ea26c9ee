"""`load_state_dict(..., strict=False)` whose answer, the list of what did not fit, nobody reads."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Discarded


def discarded(d: Discarded) -> Finding | None:
    call = d.node.value
    if (
        not isinstance(call, ast.Call)
        or not isinstance(call.func, ast.Attribute)
        or call.func.attr != "load_state_dict"
    ):
        return None
    if not _is_lenient(call) or (d.node.end_lineno or 0) in d.spot.file.cell_ends:
        return None
    edit = tell.insert_before(d.spot.file, d.node, "missing, unexpected = ")
    return tell.found(
        "load-mismatch-hidden",
        d,
        certainty="hint",
        severity="note",
        fixes=[Fix("take its answer and look at it: missing, unexpected = ...; print both", (edit,))],
    )


def _is_lenient(call: ast.Call) -> bool:
    strict = next((keyword.value for keyword in call.keywords if keyword.arg == "strict"), None)
    if strict is None and len(call.args) > 1:
        strict = call.args[1]
    return isinstance(strict, ast.Constant) and strict.value is False
