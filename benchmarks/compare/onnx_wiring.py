"""Faults in which value goes where in an ONNX graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import helper

from compare.fault import Fault, Unfit, pick
from compare.networks import is_identity
from compare.onnx_graph import Graph, attribute, set_attribute

Make = Callable[[Graph, np.random.Generator], Fault]
_ACTIVATIONS = {"Relu", "LeakyRelu", "Elu", "Gelu", "Sigmoid"}


def another_input(graph: Graph, rng: np.random.Generator) -> Fault:
    """An earlier value of the same shape in the place of the right one."""
    node = pick(rng, graph.computing("Add", "Concat", "MatMul", "Mul", "Div"))
    place = pick(rng, [at for at, name in enumerate(node.input) if name in graph.data and name in graph.shapes])
    right = node.input[place]
    wrong = pick(rng, [n for n in graph.before(node) if graph.shapes[n] == graph.shapes[right] and n not in node.input])
    node.input[place] = wrong
    return Fault("wiring", f"{node.op_type} reads {wrong} for {right}", (graph.spot(node),), node.output[0])


def operands_swapped(graph: Graph, rng: np.random.Generator) -> Fault:
    node = pick(rng, graph.computing("Sub", "Div", "Concat", "MatMul", "Where"))
    first, second = (1, 2) if node.op_type == "Where" else (0, 1)
    node.input[first], node.input[second] = node.input[second], node.input[first]
    cause = "mask" if node.op_type == "Where" else "operands swapped"
    return Fault("wiring", f"{node.op_type}: operands swapped", (graph.spot(node),), node.output[0], cause)


def bypassed(graph: Graph, rng: np.random.Generator) -> Fault:
    """A node that is left out: whoever read its result reads what went into it."""
    node = pick(rng, [one for one in graph.nodes if _may_go(graph, one)])
    source = pick(rng, [name for name in node.input if graph.shapes.get(name) == graph.shapes[node.output[0]]])
    result = node.output[0]
    after = [one for one in graph.nodes if result in one.input]
    spots = [graph.spot(node), *(graph.spot(one) for one in after)]
    at = graph.place(node)
    graph.nodes.remove(node)
    for one in after:
        for place, name in enumerate(one.input):
            if name == result:
                one.input[place] = source
    if any(output.name == result for output in graph.model.graph.output):
        graph.insert(at, helper.make_node("Identity", [source], [result]))
    return Fault("wiring", f"{node.op_type} left out", tuple(spots), result, _cause(graph, node))


def _may_go(graph: Graph, node: Any) -> bool:
    ops = {"LayerNormalization", "BatchNormalization", "Softmax", "Add", "Mul", "Div", "Sub", "Where", *_ACTIVATIONS}
    shape = graph.shapes.get(node.output[0])
    return (
        node.op_type in ops
        and node.output[0] in graph.data
        and any(name in graph.data and graph.shapes.get(name) == shape for name in node.input)
    )


def _cause(graph: Graph, node: Any) -> str:
    if node.op_type in _ACTIVATIONS:
        return "activation"
    if node.op_type == "BatchNormalization" and is_identity(graph.module.get_submodule(graph.spot(node).layer)):
        return "epsilon"
    if node.op_type == "Add" and any(name not in graph.data for name in node.input):
        told = graph.spot(node)
        return "bias lost" if told.op == "linear" else ""
    of_attention = graph.spot(node).op == "scaled_dot_product_attention"
    if node.op_type in ("Mul", "Div") and (of_attention or any(name not in graph.data for name in node.input)):
        return "scale"
    if node.op_type == "Add" and all(name in graph.data for name in node.input):
        return "operand left out"
    return "mask" if node.op_type == "Where" else ""


def reversed_direction(graph: Graph, rng: np.random.Generator) -> Fault:
    """A recurrent layer that reads from the other end."""
    node = pick(rng, graph.computing("LSTM", "GRU"))
    if attribute(node, "direction", b"forward") != b"forward":
        raise Unfit
    set_attribute(node, "direction", "reverse")
    return Fault("wiring", f"{node.op_type} reads backwards", (graph.spot(node),), node.output[0], "read backwards")


KINDS: dict[str, Make] = {one.__name__: one for one in (another_input, operands_swapped, bypassed, reversed_direction)}
