"""Faults in what an ONNX node is told besides its inputs, and in the constants beside it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import numpy_helper

from compare.fault import Fault, Unfit, amount, pick
from compare.onnx_graph import Graph, attribute, set_attribute

Make = Callable[[Graph, np.random.Generator], Fault]


def _fault(graph: Graph, node: Any, what: str, cause: str = "", size: float | None = None) -> Fault:
    return Fault("attributes", f"{node.op_type}: {what}", (graph.spot(node),), node.output[0], cause, size)


def epsilon(graph: Graph, rng: np.random.Generator) -> Fault:
    node = pick(rng, graph.computing("LayerNormalization", "BatchNormalization"))
    value = math.exp(rng.uniform(math.log(1e-8), math.log(1e-1)))
    set_attribute(node, "epsilon", value)
    return _fault(graph, node, f"epsilon {value:.2g}", "epsilon", value)


def slope(graph: Graph, rng: np.random.Generator) -> Fault:
    node = pick(rng, graph.computing("LeakyRelu", "Elu"))
    size = amount(rng)
    value = attribute(node, "alpha", 1.0) * (1 + size)
    set_attribute(node, "alpha", value)
    return _fault(graph, node, f"alpha {value:.5g}", "activation", size)


def gelu(graph: Graph, rng: np.random.Generator) -> Fault:
    node = pick(rng, graph.computing("Gelu"))
    value = "none" if attribute(node, "approximate", b"none") == b"tanh" else "tanh"
    set_attribute(node, "approximate", value)
    return _fault(graph, node, f"approximate {value}", "activation")


def another_activation(graph: Graph, rng: np.random.Generator) -> Fault:
    """One of the family in the place of another."""
    node = pick(rng, graph.computing("Relu", "LeakyRelu", "Elu", "Gelu"))
    before = node.op_type
    node.op_type = pick(rng, {"Relu", "LeakyRelu", "Elu", "Gelu", "Tanh", "Softplus"} - {before})
    del node.attribute[:]
    return _fault(graph, node, f"instead of {before}", "activation")


def softmax_axis(graph: Graph, rng: np.random.Generator) -> Fault:
    node = pick(rng, graph.computing("Softmax"))
    rank = len(graph.shapes[node.output[0]])
    axis = int(rng.integers(rank - 1))
    set_attribute(node, "axis", axis)
    return _fault(graph, node, f"axis {axis} of {rank}", "softmax axis")


def one_sided_padding(graph: Graph, rng: np.random.Generator) -> Fault:
    """The same padding in all, more of it on one side: shapes stay."""
    node = pick(rng, [one for one in graph.computing("Conv") if any(attribute(one, "pads", [0]))])
    pads = list(attribute(node, "pads"))
    half, sign = len(pads) // 2, int(rng.choice([-1, 1]))
    pads = [n - sign for n in pads[:half]] + [n + sign for n in pads[half:]]
    set_attribute(node, "pads", pads)
    return _fault(graph, node, f"pads {pads}", "padding on one side")


def dilation(graph: Graph, rng: np.random.Generator) -> Fault:
    node = pick(rng, [one for one in graph.computing("Conv") if any(attribute(one, "pads", [0]))])
    set_attribute(node, "pads", [2 * n for n in attribute(node, "pads")])
    set_attribute(node, "dilations", [2, 2])
    return _fault(graph, node, "dilations 2")


def pool_edges(graph: Graph, rng: np.random.Generator) -> Fault:
    node = pick(rng, graph.computing("AveragePool", "MaxPool"))
    choices = ["count_include_pad", "ceil_mode"] if node.op_type == "AveragePool" else ["ceil_mode"]
    name = pick(rng, choices)
    value = 1 - attribute(node, name, 0)
    set_attribute(node, name, value)
    return _fault(graph, node, f"{name} {value}", "pooling edges")


def pool_padding(graph: Graph, rng: np.random.Generator) -> Fault:
    node = pick(rng, graph.computing("AveragePool", "MaxPool"))
    size = attribute(node, "kernel_shape")[0]
    pads = list(attribute(node, "pads", [0, 0, 0, 0]))
    pads = [0, 0, pads[2] + pads[0], pads[3] + pads[1]] if any(pads) else [size // 2] * 2 + [0, 0]
    set_attribute(node, "pads", pads)
    return _fault(graph, node, f"pads {pads}", "pooling edges")


def resize_corners(graph: Graph, rng: np.random.Generator) -> Fault:
    node = pick(rng, graph.computing("Resize"))
    now = attribute(node, "coordinate_transformation_mode").decode()
    value = pick(rng, {"half_pixel", "align_corners", "asymmetric"} - {now, now.replace("pytorch_", "")})
    set_attribute(node, "coordinate_transformation_mode", value)
    return _fault(graph, node, f"coordinate_transformation_mode {value}", "resize corners")


def resize_mode(graph: Graph, rng: np.random.Generator) -> Fault:
    node = pick(rng, graph.computing("Resize"))
    value = pick(rng, {"nearest", "cubic"})
    set_attribute(node, "mode", value)
    return _fault(graph, node, f"mode {value}", "resize mode")


def permutation(graph: Graph, rng: np.random.Generator) -> Fault:
    """Axes in another order where the shape does not show it, among those that a reshape will merge."""
    node = pick(rng, graph.computing("Transpose"))
    perm, shape = list(attribute(node, "perm")), graph.shapes[node.output[0]]
    a, b = sorted(rng.choice(len(perm), 2, replace=False))
    if shape[a] != shape[b] or shape[a] == 1:
        raise Unfit
    perm[a], perm[b] = perm[b], perm[a]
    set_attribute(node, "perm", perm)
    return _fault(graph, node, f"perm {perm}")


def gemm_factor(graph: Graph, rng: np.random.Generator) -> Fault:
    node = pick(rng, graph.computing("Gemm"))
    name = pick(rng, ["alpha", "beta"] if len(node.input) > 2 else ["alpha"])
    size = amount(rng)
    set_attribute(node, name, 1.0 + size)
    return _fault(graph, node, f"{name} {1 + size:.5g}", "scale" if name == "alpha" else "bias scaled", size)


def gru_reset(graph: Graph, rng: np.random.Generator) -> Fault:
    node = pick(rng, graph.computing("GRU"))
    set_attribute(node, "linear_before_reset", 1 - attribute(node, "linear_before_reset", 0))
    return _fault(graph, node, "linear_before_reset", "reset after")


def recurrent_activation(graph: Graph, rng: np.random.Generator) -> Fault:
    node = pick(rng, graph.computing("LSTM", "GRU"))
    ways = 2 if attribute(node, "direction", b"forward") == b"bidirectional" else 1
    rest = ["Tanh", "Tanh"] if node.op_type == "LSTM" else ["Tanh"]
    names = ["HardSigmoid", *rest] if rng.random() < 0.7 else ["Sigmoid", "Relu", *rest[1:]]
    set_attribute(node, "activations", names * ways)
    return _fault(graph, node, f"activations {names}", "recurrent activation")


def constant(graph: Graph, rng: np.random.Generator) -> Fault:
    """A number that the exporter wrote beside an operation: a scale, a divisor."""
    node = pick(rng, graph.computing("Mul", "Div", "Pow", "Sub"))
    name = pick(rng, [name for name in node.input if name in graph.weights and graph.array(name).size == 1])
    size = amount(rng)
    array = graph.array(name)
    if array.dtype.kind != "f":
        raise Unfit
    changed = f"{name}_changed"
    graph.model.graph.initializer.append(numpy_helper.from_array((array * (1 + size)).astype(array.dtype), changed))
    node.input[list(node.input).index(name)] = changed
    return _fault(graph, node, f"constant times {1 + size:.5g}", "scale", size)


def mask(graph: Graph, rng: np.random.Generator) -> Fault:
    """What may be seen, by one place more or less."""
    masks = [
        name
        for name in graph.weights
        if graph.array(name).ndim >= 2 and (graph.array(name).dtype == bool or np.isinf(graph.array(name)).any())
    ]
    name = pick(rng, masks)
    by = int(rng.choice([-1, 1]))
    graph.put(name, np.roll(graph.array(name), by, -1))
    readers = graph.readers(name)
    spots = tuple(graph.spot(node) for node in readers[:1])
    return Fault("attributes", f"mask moved by {by}", spots, readers[0].output[0], "mask")


KINDS: dict[str, Make] = {
    one.__name__: one
    for one in (
        epsilon, slope, gelu, another_activation, softmax_axis, one_sided_padding, dilation, pool_edges, pool_padding,
        resize_corners, resize_mode, permutation, gemm_factor, gru_reset, recurrent_activation, constant, mask,
    )
}  # fmt: skip
