"""Numbers of float64 are given to a model of float32."""

from __future__ import annotations

import ast

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _edits, _scene, _use, _words
from sleuth.dry.crashes._odd_type import OddType, odd_type
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix

REFINES = ("dtype_mismatch",)


def explain(crash: Crash) -> Finding | None:
    found = odd_type(crash)
    if found is None or found.birth.dtype != "float64" or found.wanted != "float32":
        return None
    origin = found.origin
    line = f" (line {origin.place.line})" if origin.place is not None else ""
    return told(
        "float64-into-float32-model",
        crash,
        title=f"{found.called} is float64 since {_words.maker(origin)}{line}, the weights are float32",
        evidence=found.evidence,
        chain=found.chain,
        fixes=[_fix(crash, found)],
    )


def _fix(crash: Crash, found: OddType) -> Fix:
    """`.float()` where float64 came in, if that was a call of the user's; else where it is used."""
    title, origin = "make it float32: .float()", found.origin
    node = _scene.expression(origin.code, origin.instruction) if origin.code is not None else None
    if (
        origin.code is not None
        and isinstance(node, ast.Call)
        and origin.operation in ("from_numpy", "tensor", "as_tensor")
    ):
        return Fix(title, (_edits.put_behind(origin.code.co_filename, node, ".float()"),))
    return _use.followed_by(crash, found.birth, ".float()", "")
