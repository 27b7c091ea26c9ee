"""Layers in a Python list: torch does not see them, so .to() leaves them on the CPU."""

from __future__ import annotations

import ast

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _edits, _holders
from sleuth.dry.crashes._stray import stray
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix, Link
from sleuth.layer_source import assignment_of
from sleuth.program import place_at

REFINES = ("device_mismatch",)


def explain(crash: Crash) -> Finding | None:
    found = stray(crash)
    if found is None or found.birth.device != "cpu":
        return None
    holder = _holders.plain_list(crash, found.history)
    if holder is None:
        return None
    written = assignment_of(type(holder.module), holder.attribute)
    where = None if written is None else place_at(written[0], written[1].lineno)
    return told(
        "modules-in-plain-list",
        crash,
        title=f"torch does not see the layers in the plain {holder.kind} self.{holder.attribute}: they stay on the CPU",
        evidence=found.evidence,
        chain=[*found.chain, Link(f"{holder.dotted} is a plain {holder.kind} of layers", where)],
        fixes=[_fix(holder, written)],
    )


def _fix(holder: _holders.Holder, written: tuple[str, ast.Assign | ast.AnnAssign] | None) -> Fix:
    wrapper = "nn.ModuleDict" if holder.kind == "dictionary" else "nn.ModuleList"
    title = f"self.{holder.attribute} = {wrapper}(...)"
    if written is None or not isinstance(written[1], ast.Assign):
        return Fix(title)
    filename, value = written[0], written[1].value
    if not isinstance(value, ast.List | ast.ListComp | ast.Dict):
        return Fix(title)
    if ast.unparse(value) in ("[]", "{}"):
        return Fix(title, (_edits.replaced(filename, value, f"{wrapper}()"),))
    return Fix(title, (_edits.put_before(filename, value, f"{wrapper}("), _edits.put_behind(filename, value, ")")))
