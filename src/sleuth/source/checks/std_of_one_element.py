"""A mini-batch standardised by its own std, which is NaN for a batch of one."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by, same

OPERATIONS = ("div",)
_CORRECTIONS = ("unbiased", "correction", "1")


def operation(site: Site) -> Finding | None:
    if len(site.operands) < 2 or site.result.kind != "tensor" or not site.spot.loops:
        return None
    above, below = site.operands[:2]
    difference, std = made_by(above, "sub"), _std(below)
    if difference is None or std is None or len(difference.inputs) < 2 or not std.inputs:
        return None
    mean = made_by(difference.inputs[1], "mean")
    if mean is None or not same(difference.inputs[0], std.inputs[0]) or not _is_of_torch(std):
        return None
    return tell.found(
        "std-of-one-element",
        site,
        title="std of a mini-batch that may have one row",
        node=std.node,
        certainty="hint",
        severity="note",
        chain=[tell.because(std, "std divides by n - 1: NaN when a mini-batch has one row, whatever is added to it")],
        fixes=[Fix("pass unbiased=False, or drop the last incomplete batch")],
    )


def _std(value: Value) -> Value | None:
    added = made_by(value, "add")
    return made_by(added.inputs[0] if added is not None and added.inputs else value, "std")


def _is_of_torch(std: Value) -> bool:
    """torch corrects by default; NumPy, TensorFlow and JAX do not."""
    return (
        len(std.inputs) == 1
        and not any(std.option(name) is not None for name in _CORRECTIONS)
        and std.api
        in (
            "",
            "torch.std",
        )
    )
