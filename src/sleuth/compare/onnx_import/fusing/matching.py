"""What rules ask about a graph: which operation a node is, of what, and whether its value is used elsewhere."""

from __future__ import annotations

from typing import Any

from torch import Tensor, fx

from sleuth.compare.onnx_import.building import Builder
from sleuth.compare.reference import op_of


class Matched:
    """A view on the graph that is being built."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self.graph = builder.graph

    def weight(self, node: Any) -> Tensor | None:
        """The numbers of a constant."""
        if isinstance(node, fx.Node) and node.op == "get_attr":
            return self._builder.weights[str(node.target)]
        return None

    def reshaped(self, node: fx.Node, shape: list[int]) -> fx.Node:
        """A constant with another shape."""
        tensor = self.weight(node)
        assert tensor is not None
        if list(tensor.shape) == shape:
            return node
        with self.graph.inserting_after(node):
            path = f"{node.target}_flat"
            self._builder.weights[path] = tensor.reshape(shape)
            return self.graph.create_node("get_attr", path)


def operands(node: Any, op: str) -> list[tuple[Any, Any]]:
    """The two of a sum or a product, in both orders."""
    if not is_op(node, op) or len(node.args) < 2:
        return []
    left, right = node.args[:2]
    return [(left, right), (right, left)]


def is_op(node: Any, *ops: str) -> bool:
    return isinstance(node, fx.Node) and node.op == "call_function" and op_of(node) in ops


def used_once(node: Any) -> bool:
    return isinstance(node, fx.Node) and len(node.users) == 1 and next(iter(node.users)).op != "output"


def turn_into(node: fx.Node, target: Any, *args: Any, **kwargs: Any) -> bool:
    """The node keeps its name, its layer and its users."""
    node.target = target
    node.args = args
    node.kwargs = kwargs
    return True


def shape_of(node: Any) -> tuple[int, ...]:
    return tuple(node.meta.get("shape", ()))


def close(number: Any, wanted: float) -> bool:
    """The same to the precision of float32, in which exporters write constants."""
    return isinstance(number, int | float) and abs(number - wanted) <= 2e-6 * abs(wanted)


def factors(node: Any, inside: bool = False) -> tuple[float, list[Any]]:
    """A product's plain number and its other factors; what is used elsewhere too is a factor of its own."""
    if not is_op(node, "mul", "div") or (inside and not used_once(node)):
        return 1.0, [node]
    left, right = node.args[:2]
    if is_op(node, "div"):
        if not isinstance(right, int | float):
            return 1.0, [node]
        number, others = factors(left, True)
        return number / right, others
    if isinstance(right, int | float):
        number, others = factors(left, True)
        return number * right, others
    (first, some), (second, more) = factors(left, True), factors(right, True)
    return first * second, [*some, *more]


def is_last_axis_only(axes: Any, rank: int) -> bool:
    return [axis % rank for axis in axes] == [rank - 1] if rank else False
