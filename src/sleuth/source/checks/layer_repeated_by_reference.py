"""`[layer] * n` as the layers of a network: one layer n times, with one set of weights."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site
from sleuth.source.values import Value
from sleuth.source.weights import holds_weights

CALLS = ("torch.nn.Sequential", "torch.nn.ModuleList")


def call(site: Site) -> Finding | None:
    if len(site.node.args) != 1:
        return None
    argument = site.node.args[0]
    argument = argument.value if isinstance(argument, ast.Starred) else argument
    repeated = _repetition(argument) or _reference(argument, site.result)
    layer = next((part for part in site.result.parts or () if holds_weights(part)), None)
    if repeated is None or layer is None or _is_said_to_be_shared(site, repeated):
        return None
    return tell.found(
        "layer-repeated-by-reference",
        site,
        node=repeated,
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(layer, "one layer is made, with one set of weights"),
            tell.because(repeated, "each place of the list holds this same layer", site.spot.file),
        ],
        fixes=[Fix("make a layer for each place: [make_layer() for _ in range(n)], or copy.deepcopy(layer) in it")],
    )


def _is_said_to_be_shared(site: Site, node: ast.expr) -> bool:
    """`[shared_head] * n`: the name, or a comment on the line, says that it is meant."""
    line = site.spot.file.lines[node.lineno - 1].lower()
    return any(word in line for word in ("shar", "tied", "same "))


def _repetition(node: ast.expr) -> ast.expr | None:
    """`[layer] * n`, also as a part of a longer list."""
    if not isinstance(node, ast.BinOp):
        return None
    if isinstance(node.op, ast.Add):
        return _repetition(node.left) or _repetition(node.right)
    if not isinstance(node.op, ast.Mult):
        return None
    return node if isinstance(node.left, ast.List) or isinstance(node.right, ast.List) else None


def _reference(node: ast.expr, made: Value) -> ast.expr | None:
    """`[layer for _ in range(n)]`, of a layer that was made before."""
    if not isinstance(node, ast.ListComp | ast.GeneratorExp) or not isinstance(node.elt, ast.Name):
        return None
    if any(isinstance(one, ast.Name) and one.id == node.elt.id for g in node.generators for one in ast.walk(g.target)):
        return None
    layer = next(iter(made.parts or ()), None)
    return node if layer is not None and layer.op != "phi" and layer.line < node.lineno else None
