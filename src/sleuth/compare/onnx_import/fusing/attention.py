"""Attention out of its two products and the softmax between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx

from sleuth.compare.onnx_import.building import aten
from sleuth.compare.onnx_import.fusing.matching import Matched, close, is_op, shape_of, turn_into, used_once


@dataclass(slots=True)
class _Scores:
    """query · keyᵀ · scale + mask."""

    query: Any
    key: Any
    scale: float
    mask: Any


def _attention(graph: Matched, node: fx.Node) -> bool:
    if not is_op(node, "matmul"):
        return False
    shares, value = node.args[:2]
    if not is_op(shares, "softmax") or not used_once(shares) or len(shape_of(value)) < 3:
        return False
    assert isinstance(shares, fx.Node)
    rank = len(shape_of(shares))
    if shares.args[1] not in (-1, rank - 1):
        return False
    scores = _scores(shares.args[0])
    if (
        scores is None
        or not _fit(scores, shape_of(shares), shape_of(value))
        or not _leaves_something(graph, scores.mask)
    ):
        return False
    with graph.graph.inserting_before(node):
        key = _turned(graph, node, scores.key)
    width = shape_of(scores.query)[-1]
    scale = None if close(scores.scale, 1 / math.sqrt(width)) else scores.scale
    causal = _is_causal(graph, scores.mask, shape_of(shares))
    mask = None if causal else scores.mask
    return turn_into(
        node, aten.scaled_dot_product_attention.default, scores.query, key, value, mask, 0.0, causal, scale=scale
    )


def _fit(scores: _Scores, shares: tuple[int, ...], value: tuple[int, ...]) -> bool:
    """The same batch and heads all through: PyTorch's operation does not spread one over the others."""
    query, key = shape_of(scores.query), shape_of(scores.key)
    return query[:-2] == key[:-2] == value[:-2] == shares[:-2] and shares[-2:] == (*query[-2:-1], *key[-1:])


def _leaves_something(graph: Matched, mask: Any) -> bool:
    """Where a mask shuts out everything, ONNX's softmax gives NaN and PyTorch's operation 0."""
    if mask is None:
        return True
    tensor = graph.weight(mask)
    return tensor is not None and not bool((tensor == float("-inf")).all(-1).any())


def _scores(node: Any) -> _Scores | None:
    mask = None
    if is_op(node, "add") and used_once(node) and isinstance(node.args[1], fx.Node):
        for one, other in (node.args[:2], node.args[1::-1]):
            if _is_product(one):
                node, mask = one, other
                break
    scale, product = _peeled(node)
    if not is_op(product, "matmul") or not used_once(product):
        return None
    of_query, query = _peeled(product.args[0])
    of_key, key = _peeled(product.args[1])
    return _Scores(query, key, scale * of_query * of_key, mask)


def _is_product(node: Any) -> bool:
    return is_op(_peeled(node)[1], "matmul")


def _peeled(node: Any) -> tuple[float, Any]:
    """A value without the plain numbers that it is multiplied by."""
    scale = 1.0
    while is_op(node, "mul", "div") and used_once(node) and isinstance(node.args[1], int | float):
        scale = scale * node.args[1] if is_op(node, "mul") else scale / node.args[1]
        node = node.args[0]
    return scale, node


def _turned(graph: Matched, node: fx.Node, key: Any) -> fx.Node:
    """The key with its length before its width."""
    if is_op(key, "permute"):
        order = [axis % len(key.args[1]) for axis in key.args[1]]
        order[-2:] = order[:-3:-1]
        if order == sorted(order):
            source: fx.Node = key.args[0]
            return source
        made = graph.graph.create_node(
            "call_function", aten.permute.default, (key.args[0], order), name=f"{node.name}_key"
        )
    else:
        made = graph.graph.create_node("call_function", aten.transpose.int, (key, -1, -2), name=f"{node.name}_key")
    made.meta.update(node.meta)
    made.meta["shape"] = (*shape_of(key)[:-2], shape_of(key)[-1], shape_of(key)[-2])
    return made


def _is_causal(graph: Matched, mask: Any, shape: tuple[int, ...]) -> bool:
    """A constant that shuts out just what comes later."""
    tensor = graph.weight(mask)
    if tensor is None or tuple(tensor.shape[-2:]) != shape[-2:] or not tensor.is_floating_point():
        return False
    later = torch.ones(shape[-2:], dtype=torch.bool).triu(1)
    lowest = torch.finfo(torch.float16).min
    return bool((tensor[..., ~later] == 0).all() and (tensor[..., later] <= lowest).all() and later.any())


RULES = (_attention,)
