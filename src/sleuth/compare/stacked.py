"""Stacked recurrent layers taken apart: PyTorch computes them all in one operation, others layer by layer."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx

_ATEN = torch.ops.aten
# How many states each keeps.
_STATES = {
    _ATEN.lstm.input: 2,
    _ATEN.gru.input: 1,
    _ATEN.rnn_tanh.input: 1,
    _ATEN.rnn_relu.input: 1,
}


def apart(module: fx.GraphModule) -> None:
    """Each layer an operation of its own, with an output that can be compared and weights that can be wrong alone."""
    for node in list(module.graph.nodes):
        if node.op == "call_function" and node.target in _STATES and len(node.args) >= 9 and not node.kwargs:
            layers, training = node.args[4], node.args[6]
            if isinstance(layers, int) and layers > 1 and not training and _states_unused(node):
                _take_apart(module.graph, node, layers)


def _states_unused(node: fx.Node) -> bool:
    """The last states of all layers are one array: where somebody uses it, it stays in one piece."""
    return all(user.target is operator.getitem and (user.args[1] == 0 or not user.users) for user in node.users)


def _take_apart(graph: fx.Graph, node: fx.Node, layers: int) -> None:
    given, start, params, biases, _, dropout, training, both, batch_first = node.args[:9]
    several = isinstance(start, list | tuple)
    starts: Any = start if several else [start]
    count = 2 if both else 1
    own: Any = params
    size = len(own) // layers

    def arguments(value: Any, layer: int) -> tuple[Any, ...]:
        mine = [_made(graph, node, _ATEN.narrow.default, (one, 0, layer * count, count)) for one in starts]
        weights = own[layer * size : (layer + 1) * size]
        return (value, mine if several else mine[0], weights, biases, 1, dropout, training, both, batch_first)

    with graph.inserting_before(node):
        value: Any = given
        for layer in range(layers - 1):
            whole = _made(graph, node, node.target, arguments(value, layer), f"{node.name}_layer_{layer}", layer)
            value = _made(graph, node, operator.getitem, (whole, 0), f"{node.name}_layer_{layer}_output", layer)
        node.args = arguments(value, layers - 1)


def _made(
    graph: fx.Graph,
    like: fx.Node,
    target: Any,
    args: tuple[Any, ...],
    name: str | None = None,
    layer: int | None = None,
) -> fx.Node:
    made = graph.create_node("call_function", target, args, name=name)
    made.meta = {key: value for key, value in like.meta.items() if key in ("nn_module_stack", "stack_trace")}
    if layer is not None and (stack := dict(made.meta.get("nn_module_stack") or {})):
        key, (path, *rest) = list(stack.items())[-1]
        stack[key] = (f"{path}, layer {layer + 1}", *rest)
        made.meta["nn_module_stack"] = stack
    return made
