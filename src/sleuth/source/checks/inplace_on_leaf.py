"""An in-place change of a parameter outside `torch.no_grad()`: torch refuses it."""

from __future__ import annotations

import ast
from typing import Final

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.freezing import network_of
from sleuth.source.sites import Assignment, Site, Spot
from sleuth.source.values import Value
from sleuth.source.weights import is_parameter, is_torch_module

_METHODS: Final = (
    "add_ sub_ mul_ div_ clamp_ copy_ fill_ zero_ normal_ uniform_ addcmul_ addcdiv_ neg_ exp_ sqrt_ clamp_min_ "
    "clamp_max_ masked_fill_ scatter_ index_copy_ index_fill_ pow_ lerp_ abs_ relu_ sigmoid_ tanh_"
).split()
CALLS = ("augmented", *(f"tensor.{name}" for name in _METHODS))


def call(site: Site) -> Finding | None:
    leaf = site.receiver
    if leaf is None or not _is_leaf(leaf) or _is_allowed(site.spot):
        return None
    if site.name == "augmented" and not isinstance(site.node.target, ast.Name | ast.Attribute):
        return None
    return _told(site, leaf)


def assignment(a: Assignment) -> Finding | None:
    if a.attribute or not _is_leaf(a.base) or _is_allowed(a.spot):
        return None
    return _told(a, a.base)


def _told(at: Site | Assignment, leaf: Value) -> Finding:
    return tell.found(
        "inplace-on-leaf",
        at,
        chain=[
            tell.because(leaf, "this tensor requires grad, and nothing computed it: it is a leaf"),
            tell.because(at.node, "it is changed in place while gradients are recorded", at.spot.file),
        ],
        fixes=[Fix("do it inside `with torch.no_grad():`; or compute a new tensor instead")],
    )


def _is_leaf(value: Value) -> bool:
    if value.grad is not True:
        return False
    if is_parameter(value):
        asked = value.option("requires_grad", "1", "**")
        return asked is None or asked.const is True
    asked = value.option("requires_grad")
    if asked is not None and asked.const is True and value.api.startswith("torch."):
        return True
    network = network_of(value)
    return (
        network is not None and network.grad is not False and (network.kind == "instance" or is_torch_module(network))
    )


def _is_allowed(spot: Spot) -> bool:
    """Under no_grad, or where gradients were switched off for all."""
    return spot.without_grad or bool(spot.withs) or "set_grad_enabled" in spot.file.text or "try" in spot.guards
