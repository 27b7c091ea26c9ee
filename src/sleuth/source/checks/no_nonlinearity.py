"""Two linear layers in a row: together they are one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from sleuth.findings import Finding, Fix
from sleuth.source import keras, tell
from sleuth.source.layer_shapes import whole
from sleuth.source.scopes import ClassInfo
from sleuth.source.sites import Site
from sleuth.source.values import Value

OPERATIONS = ("linear",)
CALLS = ("torch.nn.Sequential", "keras.Sequential")
_BETWEEN = ("torch.nn.Dropout", "torch.nn.Identity", "keras.layers.Dropout")


def operation(site: Site) -> Finding | None:
    """One layer's result in `forward`, given straight to the next and to nothing else."""
    layer, cls = site.receiver, site.spot.cls
    if layer is None or not site.args or cls is None or not isinstance(site.node, ast.Call):
        return None
    value = site.args[0]
    while value.op in ("dropout", "identity") and value.inputs:
        value = value.inputs[0]
    before = value.inputs[-1] if value.op == "linear" and len(value.inputs) > 1 else None
    if before is None or before is layer or not all(_is_of(cls, one) for one in (before, layer)):
        return None
    return _told(site, before, layer, None) if _is_used_once(site, value) else None


def _is_of(cls: ClassInfo, layer: Value) -> bool:
    """Is the layer constructed in the class itself?"""
    return layer.unit is cls.file and cls.node.lineno <= layer.line <= (cls.node.end_lineno or 0)


def _is_used_once(site: Site, value: Value) -> bool:
    """Nobody else gets the first layer's result: no residual path, no second head."""
    argument = site.node.args[0] if site.node.args else None
    if isinstance(argument, ast.Call):
        return True
    function = site.spot.function
    if not isinstance(argument, ast.Name) or function is None:
        return False
    uses = [
        (node.lineno, isinstance(node.ctx, ast.Store))
        for node in ast.walk(function.node)
        if isinstance(node, ast.Name) and node.id == argument.id and node.lineno > value.line
    ]
    end = min((line for line, stored in uses if stored), default=None)
    return sum(not stored for line, stored in uses if end is None or line <= end) == 1


def call(site: Site) -> Iterator[Finding]:
    """Layers in a row that nobody has called yet. In a class they are judged where `forward` calls them."""
    function, network = site.spot.function, site.result
    if (function is not None and function.cls is not None) or not network.exact:
        return
    layers = [part for part in network.parts or () if part.api not in _BETWEEN]
    for before, layer in pairwise(layers):
        found = _told(site, before, layer, layer)
        if found is not None:
            yield found


def _told(site: Site, before: Value, layer: Value, place: Value | None) -> Finding | None:
    if not (_is_linear(before) and _is_linear(layer)) or _is_factorisation(before, layer):
        return None
    return tell.found(
        "no-nonlinearity",
        site,
        node=None if place is None else place.node,
        file=None if place is None else place.unit,
        certainty="hint",
        severity="note",
        chain=[
            tell.because(before, "a linear layer with no activation"),
            tell.because(layer, "its result goes straight into the next: the two are one linear map"),
        ],
        fixes=[Fix("put an activation between them, such as ReLU")],
    )


def _is_linear(layer: Value) -> bool:
    if layer.kind != "module" or layer.api not in ("torch.nn.Linear", "keras.layers.Dense") or "**" in layer.options:
        return False
    return layer.api == "torch.nn.Linear" or keras.activation(layer) == ""


def _is_factorisation(before: Value, layer: Value) -> bool:
    """A middle narrower than both ends is a matrix of low rank, made on purpose; so may be one of unknown width."""
    if layer.api != "torch.nn.Linear":
        return False
    first, middle = whole(before.option("0", "in_features")), whole(before.option("1", "out_features"))
    last = whole(layer.option("1", "out_features"))
    return middle is None or (first is not None and last is not None and middle < first and middle < last)
