"""What exporters take apart is put together again, so that a layer is one operation, as it is in torch.export's graphs.

One kind of operation a file: its `RULES` are tried on every node in order; one that fits makes it the whole."""

from __future__ import annotations

from collections.abc import Iterable

from torch import fx

from sleuth.compare.onnx_import.building import Builder
from sleuth.compare.onnx_import.fusing import activations, attention, bias, normalisations
from sleuth.compare.onnx_import.fusing.matching import Matched

_RULES = (*activations.RULES, *normalisations.RULES, *bias.RULES, *attention.RULES)


def fuse(builder: Builder) -> None:
    matched = Matched(builder)
    for node in builder.graph.nodes:
        if node.op == "call_function":
            _fused(matched, node)


def _fused(matched: Matched, node: fx.Node) -> None:
    for rule in _RULES:
        before = node.all_input_nodes
        if rule(matched, node):
            _pruned(matched.graph, before)


def _pruned(graph: fx.Graph, unused: Iterable[fx.Node]) -> None:
    """Rules ask how often a value is used, so what nothing uses any more must go at once."""
    open_ends = list(unused)
    while open_ends:
        node = open_ends.pop()
        if not node.users and node.op in ("call_function", "get_attr") and not node._erased:
            above = node.all_input_nodes
            graph.erase_node(node)
            open_ends += above
