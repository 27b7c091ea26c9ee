"""`nn.Parameter(...).cuda()`: what the attribute holds is a copy on another device, and no parameter any more."""

from __future__ import annotations

import ast
from typing import Final

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Assignment, Site
from sleuth.source.values import Value
from sleuth.source.weights import is_parameter, is_torch_module

_MOVES: Final = ("to", "cuda", "half", "double", "bfloat16", "type", "float")
_OPTIMIZERS: Final = "Adam AdamW SGD RMSprop Adagrad Adadelta Adamax NAdam RAdam LBFGS Rprop ASGD SparseAdam".split()
CALLS = tuple(f"torch.optim.{name}" for name in _OPTIMIZERS)


def assignment(a: Assignment) -> Finding | None:
    value = a.value
    if not a.attribute or value.op not in _MOVES or not value.inputs or not is_torch_module(a.base):
        return None
    wrapped = value.inputs[0]
    if not is_parameter(wrapped) or _stays(value, wrapped):
        return None
    return tell.found(
        "parameter-moved-after-wrapping",
        a,
        node=value.node,
        title=f"self.{a.attribute} is a moved copy of a parameter, not a parameter",
        chain=[
            tell.because(wrapped, "nn.Parameter marks this tensor as one that is trained"),
            tell.because(
                value, f"{value.op} computes a new tensor from it, which is no nn.Parameter and is not registered"
            ),
        ],
        fixes=[Fix("move first, wrap last: nn.Parameter(tensor.to(device)); or leave the move to model.to(device)")],
    )


def _stays(value: Value, wrapped: Value) -> bool:
    """Is it there already, so that the move gives back the same parameter?"""
    inner = wrapped.inputs[0] if wrapped.inputs else None
    if value.op in ("to", "cuda"):
        return inner is not None and inner.device is not None
    return value.op == "float" and (inner is None or inner.dtype in (None, "float32"))


def call(site: Site) -> Finding | None:
    """An optimiser that is given a moved copy of a leaf refuses it."""
    given = site.args[0] if site.args else None
    for part in (given.parts or ()) if given is not None and given.kind == "sequence" else ():
        if part.op not in ("to", "cuda") or not part.inputs or not isinstance(part.node, ast.Call):
            continue
        leaf = part.inputs[0]
        if leaf.device is None and (is_parameter(leaf) or _asks_for_grad(leaf)):
            return tell.found(
                "parameter-moved-after-wrapping",
                site,
                node=part.node,
                file=part.unit,
                title="the optimiser is given a moved copy of a tensor that requires grad, which is no leaf",
                chain=[
                    tell.because(leaf, "this tensor requires grad"),
                    tell.because(part, f"{part.op} computes a new one from it"),
                    tell.because(
                        site.node, "optimisers take leaves only: can't optimize a non-leaf Tensor", site.spot.file
                    ),
                ],
                fixes=[Fix("make it on the device: torch.randn(..., device=device, requires_grad=True)")],
            )
    return None


def _asks_for_grad(value: Value) -> bool:
    asked = value.option("requires_grad")
    return asked is not None and asked.const is True
