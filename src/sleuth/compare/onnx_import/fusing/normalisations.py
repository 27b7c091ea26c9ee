"""Layer, group and RMS norms out of means, differences and roots; then their weights and biases."""

from __future__ import annotations

from typing import Any

from torch import fx

from sleuth.compare.onnx_import.building import aten
from sleuth.compare.onnx_import.fusing.matching import Matched, is_op, operands, shape_of, turn_into, used_once


def _divided(node: fx.Node) -> list[tuple[Any, Any]]:
    """(a, b) of a / √b, however it is written."""
    found = []
    if is_op(node, "div") and is_op(node.args[1], "sqrt") and used_once(node.args[1]):
        found.append((node.args[0], node.args[1].args[0]))  # type: ignore[union-attr]
    for value, factor in operands(node, "mul"):
        if is_op(factor, "rsqrt") and used_once(factor):
            found.append((value, factor.args[0]))
        if is_op(factor, "reciprocal") and used_once(factor) and is_op(factor.args[0], "sqrt"):
            found.append((value, factor.args[0].args[0]))
    return found


def _mean_square(node: Any) -> tuple[Any, list[int], float] | None:
    """(x, axes, ε) of mean(x²) + ε."""
    if not is_op(node, "add") or not isinstance(node.args[1], int | float):
        return None
    mean = node.args[0]
    if not is_op(mean, "mean") or not used_once(mean) or len(mean.args) < 3 or not mean.args[2]:
        return None
    square = mean.args[0]
    if is_op(square, "pow") and square.args[1] == 2:
        return square.args[0], mean.args[1], float(node.args[1])
    if is_op(square, "mul") and square.args[0] is square.args[1]:
        return square.args[0], mean.args[1], float(node.args[1])
    return None


def _trailing(axes: list[int], shape: tuple[int, ...]) -> list[int] | None:
    """The shape of the last axes, if it is they."""
    last = sorted(axis % len(shape) for axis in axes) if shape else []
    return list(shape[-len(last) :]) if last and last == list(range(len(shape) - len(last), len(shape))) else None


def _normalised(graph: Matched, node: fx.Node) -> bool:
    for top, under in _divided(node):
        found = _mean_square(under)
        if found is None or found[0] is not top:
            continue
        shape = _trailing(found[1], shape_of(top))
        if shape is None:
            continue
        value = _centred_from(top, found[1])
        if value is not None:
            return turn_into(node, aten.layer_norm.default, value, shape, None, None, found[2], False)
        return turn_into(node, aten.rms_norm.default, top, shape, None, found[2])
    return False


def _centred_from(node: Any, axes: list[int]) -> Any:
    """x of x - mean(x)."""
    if is_op(node, "sub") and is_op(node.args[1], "mean"):
        mean = node.args[1]
        if mean.args[0] is node.args[0] and list(mean.args[1]) == list(axes) and len(mean.args) > 2 and mean.args[2]:
            return node.args[0]
    return None


def _grouped(graph: Matched, node: fx.Node) -> bool:
    """A group norm is exported as an instance norm of the groups, laid out as channels."""
    inner = node.args[0] if is_op(node, "reshape", "view") else None
    if not isinstance(inner, fx.Node) or not is_op(inner, "instance_norm") or not used_once(inner):
        return False
    laid_out = inner.args[0]
    weight, bias = graph.weight(inner.args[1]), graph.weight(inner.args[2])
    if not is_op(laid_out, "reshape", "view") or not used_once(laid_out) or weight is None or bias is None:
        return False
    assert isinstance(laid_out, fx.Node)
    value, groups, shape = laid_out.args[0], shape_of(laid_out), shape_of(node)
    plain = bool((weight == 1).all() and (bias == 0).all())
    if plain and len(groups) == 3 and len(shape) > 1 and shape_of(value) == shape and shape[:1] == groups[:1]:
        return turn_into(node, aten.group_norm.default, value, groups[1], None, None, inner.args[7], False)
    return False


def _weighted(graph: Matched, node: fx.Node) -> bool:
    """What a normalisation that has no weight yet is multiplied by."""
    for norm, factor in operands(node, "mul"):
        fitting = _fitting(graph, norm, factor)
        if fitting is not None and norm.args[2] is None and (is_op(norm, "rms_norm") or norm.args[3] is None):
            args = list(norm.args)
            args[2] = fitting
            return turn_into(node, norm.target, *args)
    return False


def _shifted(graph: Matched, node: fx.Node) -> bool:
    for norm, added in operands(node, "add"):
        fitting = _fitting(graph, norm, added)
        if (
            fitting is not None
            and is_op(norm, "layer_norm", "group_norm")
            and norm.args[2] is not None
            and norm.args[3] is None
        ):
            args = list(norm.args)
            args[3] = fitting
            return turn_into(node, norm.target, *args)
    return False


def _fitting(graph: Matched, norm: Any, constant: Any) -> fx.Node | None:
    """The constant in the shape that the normalisation takes."""
    tensor = graph.weight(constant)
    if tensor is None or not is_op(norm, "layer_norm", "group_norm", "rms_norm") or not used_once(norm):
        return None
    if is_op(norm, "group_norm"):
        shape = shape_of(norm)
        channels = [shape[1], *[1] * (len(shape) - 2)]
        return graph.reshaped(constant, [shape[1]]) if list(tensor.shape) in (channels, [1, *channels]) else None
    return constant if list(tensor.shape) == list(norm.args[1]) else None


RULES = (_normalised, _grouped, _weighted, _shifted)
