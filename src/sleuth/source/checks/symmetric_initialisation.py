"""Weights that all start with the same number, layer after layer: the units of a layer never differ."""

from __future__ import annotations

import ast
from typing import Final

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site, Spot
from sleuth.source.values import Value, ancestors

CALLS = ("torch.nn.init.zeros_", "torch.nn.init.ones_", "torch.nn.init.constant_", "keras.Sequential", "module.compile")
OPERATIONS = ("matmul",)
_LAYERS: Final = frozenset("Linear Conv1d Conv2d Conv3d ConvTranspose2d LSTM GRU".split())
_CONSTANT: Final = ("zeros", "ones", "zero", "one")
_FIX: Final = Fix("start from random numbers: leave the default, or use nn.init.xavier_uniform_ or kaiming_normal_")


def call(site: Site) -> Finding | None:
    if site.spot.file.is_test:
        return None  # tests want numbers they can foretell
    if site.name in ("keras.Sequential", "module.compile"):
        return _of_keras(site)
    tensor = site.args[0] if site.args else None
    if tensor is None or not site.node.args or (site.name.endswith("constant_") and not _is_literal(site)):
        return None
    if tensor.op == "parameter" and site.spot.loops and not site.spot.tests and _is_deep(tensor):
        return _told(site, "every parameter of the network gets the same number")
    if _weight_of_a_layer(site.node.args[0]) and _all_layers(site.spot, site.node.args[0]):
        return _told(site, "the weights of all these layers get the same number", "likely")
    return None


def _is_literal(site: Site) -> bool:
    value = site.operand(1, "val")
    return value is not None and value.number() is not None


def _is_deep(parameter: Value) -> bool:
    """Of a network with more than one layer."""
    source = parameter.inputs[0] if parameter.inputs else None
    if source is not None and source.op in ("parameters", "named_parameters"):
        source = source.inputs[0]
    if source is None or source.kind not in ("module", "instance"):
        return False
    return (
        sum(
            "bias" not in one.op
            for one in (source.parts or source.attrs.values())
            if one.kind in ("module", "instance")
        )
        > 1
    )


def _weight_of_a_layer(node: ast.expr) -> bool:
    """`m.weight` or `m.weight.data`, of a plain name."""
    if isinstance(node, ast.Attribute) and node.attr == "data":
        node = node.value
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "weight"
        and isinstance(node.value, ast.Name)
        and node.value.id != "self"
    )


def _all_layers(spot: Spot, node: ast.expr) -> bool:
    """Under `if isinstance(m, nn.Linear)` and nothing more special: in a loop over modules, a function for apply()."""
    if (
        not spot.branch
        or spot.branch[-1][1] != "body"
        or len(spot.tests) != 1 + sum(arm == "else" for _, arm in spot.branch)
    ):
        return False
    test = spot.tests[-1]
    if not (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and test.func.id == "isinstance"
        and len(test.args) == 2
    ):
        return False
    asked = test.args[1]
    classes = asked.elts if isinstance(asked, ast.Tuple) else [asked]
    names = {one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in classes}
    return bool(names) and names <= _LAYERS


def operation(site: Site) -> Finding | None:
    """x @ w1, then @ w2, with both weights constant."""
    if len(site.operands) < 2:
        return None
    second = _constant(site.operands[1])
    if second is None:
        return None
    for one in ancestors(site.operands[0], most=60):
        first = _constant(one.inputs[1]) if one.op == "matmul" and len(one.inputs) > 1 else None
        if first is not None and first is not second:
            return _told(site, "both matrices start with the same number everywhere", "certain", first)
    return None


def _constant(value: Value) -> Value | None:
    """A weight that is trained and starts as zeros, ones or another number throughout."""
    if value.grad is not True and value.op != "api:tensorflow.Variable":
        return None
    inner = (
        value.inputs[0] if value.op in ("api:torch.nn.Parameter", "api:tensorflow.Variable") and value.inputs else value
    )
    if inner.op not in ("zeros", "ones", "full"):
        return None
    return value if inner.shape is not None and len(inner.shape) == 2 and 1 not in inner.shape else None


def _of_keras(site: Site) -> Finding | None:
    network = site.result if site.name == "keras.Sequential" else site.receiver
    layers = [layer for layer in (network.parts or () if network is not None else ()) if _starts_constant(layer)]
    if len(layers) < 2:
        return None
    return _told(
        site, "its kernel starts with the same number everywhere, as the next one's does", "certain", layers[0]
    )


def _starts_constant(layer: Value) -> bool:
    given = layer.option("kernel_initializer")
    if given is None or not layer.api.startswith("keras.layers."):
        return False
    word = given.const if isinstance(given.const, str) else given.api.rpartition(".")[2].lower()
    return word in (*_CONSTANT, "constant")


def _told(site: Site, why: str, certainty: str = "certain", at: Value | None = None) -> Finding:
    sure = certainty == "certain"
    return tell.found(
        "symmetric-initialisation",
        site,
        node=None if at is None else at.node,
        file=None if at is None else at.unit,
        certainty="certain" if sure else "likely",
        severity="error" if sure else "warning",
        chain=[tell.because(site.node, why, site.spot.file) if at is None else tell.because(at, why)],
        fixes=[_FIX],
    )
