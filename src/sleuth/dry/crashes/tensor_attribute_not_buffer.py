"""A plain tensor in a network, which stays behind when the network moves."""

from __future__ import annotations

import ast

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _edits, _holders
from sleuth.dry.crashes._stray import stray
from sleuth.dry.crashes._told import told
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.layer_source import assignment_of
from sleuth.program import place_at

REFINES = ("device_mismatch", "tensor_on_cpu_in_forward")


def explain(crash: Crash) -> Finding | None:
    found = stray(crash)
    if found is None or found.birth.device != "cpu" or not _made_with_the_network(found.history):
        return None
    holder = _holders.plain_tensor(crash, found.history)
    if holder is None:
        return None
    written = assignment_of(type(holder.module), holder.attribute)
    where = None if written is None else place_at(written[0], written[1].lineno)
    return told(
        "tensor-attribute-not-buffer",
        crash,
        title=f"self.{holder.attribute} of {type(holder.module).__name__} is a plain tensor: .to() left it on the CPU",
        evidence=[Evidence(f"self.{holder.attribute}", f"on {found.birth.device}"), *found.evidence[1:]],
        chain=[
            *found.chain,
            Link(f"{holder.dotted} is neither a parameter nor a buffer", where),
        ],
        fixes=[_fix(holder.attribute, written)],
    )


def _made_with_the_network(history: tuple[Birth, ...]) -> bool:
    """A tensor that a method made later was there for no move to leave behind."""
    was_there_before = all(one.code is None for one in history if not one.parents)
    return was_there_before or any(one.code is not None and one.code.co_name == "__init__" for one in history)


def _fix(attribute: str, written: tuple[str, ast.Assign | ast.AnnAssign] | None) -> Fix:
    title = f'self.register_buffer("{attribute}", ...)'
    if written is None or not isinstance(written[1], ast.Assign):
        return Fix(title)
    filename, target, value = written[0], written[1].targets[0], written[1].value
    if len(written[1].targets) != 1 or ast.unparse(target) != f"self.{attribute}":
        return Fix(title)
    head = _edits.between(filename, target, value, f'self.register_buffer("{attribute}", ')
    return Fix(title, (head, _edits.put_behind(filename, value, ")")))
