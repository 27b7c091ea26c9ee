"""A constant that is added to a product with a weight is the layer's bias."""

from __future__ import annotations

from typing import Any

from torch import fx

from sleuth.compare.onnx_import.building import aten
from sleuth.compare.onnx_import.fusing.matching import Matched, is_op, operands, turn_into, used_once


def _linear(graph: Matched, node: fx.Node) -> bool:
    for product, added in operands(node, "add"):
        bias = graph.weight(added)
        if bias is None or not is_op(product, "linear") or not used_once(product) or _argument(product, 2) is not None:
            continue
        weight = graph.weight(product.args[1])
        if weight is not None and bias.ndim == 1 and bias.shape[0] == weight.shape[0]:
            return turn_into(node, aten.linear.default, *product.args[:2], added)
    return False


def _conv(graph: Matched, node: fx.Node) -> bool:
    for product, added in operands(node, "add"):
        bias = graph.weight(added)
        if bias is None or not is_op(product, "conv1d", "conv2d", "conv3d") or not used_once(product):
            continue
        weight = graph.weight(product.args[1])
        if _argument(product, 2) is not None or weight is None:
            continue
        channels = [weight.shape[0], *[1] * (weight.ndim - 2)]
        if list(bias.shape) in (channels, [1, *channels]):
            args = [*product.args[:2], graph.reshaped(added, [weight.shape[0]]), *product.args[3:]]
            return turn_into(node, product.target, *args)
    return False


def _argument(node: fx.Node, place: int) -> Any:
    return node.args[place] if place < len(node.args) else None


RULES = (_linear, _conv)
