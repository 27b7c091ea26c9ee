"""One fault at random in an exported ONNX model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper
from torch import nn

from compare import onnx_attributes, onnx_exact, onnx_graph, onnx_wiring, weight_faults
from compare.fault import INVISIBLE, Fault, Unfit, pick
from compare.onnx_graph import Graph

Array = NDArray[Any]
Make = Callable[[Graph, np.random.Generator], Fault]
_ROUNDED = ("Conv", "ConvTranspose", "MatMul", "Gemm", "LSTM", "GRU", "LayerNormalization", "BatchNormalization")
_ALSO_ROUNDED = ("Softmax", "Add", "Mul", "Div", "Gelu", "Relu", "LeakyRelu", "Elu", "AveragePool", "Resize", "Concat")
_TRIES = 200


class Exported:
    """A model as it was exported, and what it computes: the ground on which faults are put."""

    def __init__(self, model: Any, module: nn.Module, batch: tuple[Array, ...]) -> None:
        self.model = model
        self.module = module
        self.batch = batch
        self.shapes = onnx_graph.shapes(model, batch)
        self.right = onnx_exact.outputs(model, batch)


def draw(exported: Exported, rng: np.random.Generator, dropped: Counter[str]) -> tuple[Any, Fault]:
    """A faulty model that runs and whose outputs are visibly other than they should be; `dropped` counts the rest."""
    family = pick(rng, FAMILIES)
    for _ in range(_TRIES):
        graph = Graph(exported.model, exported.module, exported.shapes)
        try:
            fault = pick(rng, FAMILIES[family].values())(graph, rng)
        except Unfit:
            continue
        faulty = graph.finished()
        change = _change(exported, faulty)
        if change is None:
            dropped["does not run"] += 1
        elif change <= INVISIBLE:
            dropped["invisible"] += 1
        else:
            return faulty, replace(fault, change=change)
    return draw(exported, rng, dropped)


def _change(exported: Exported, faulty: Any) -> float | None:
    try:
        got = onnx_graph.run(faulty, exported.batch)
        exact = onnx_exact.outputs(faulty, exported.batch)
    except Exception:  # whatever either runtime says of a graph that does not fit together
        return None
    if [one.shape for one in got] != [one.shape for one in exported.right]:
        return None
    return onnx_exact.change(exported.right, exact)


def _weight(change: weight_faults.Change, what: str, family: str) -> Make:
    def make(graph: Graph, rng: np.random.Generator) -> Fault:
        names = [name for name in graph.weights if _learnt(graph, name)]
        name = pick(rng, names)
        array = graph.array(name)
        same = [graph.array(one) for one in names if one != name and graph.array(one).shape == array.shape]
        changed, size, cause = change(array, rng, same)
        graph.put(name, changed)
        return _of_weight(graph, name, what, family, cause, size)

    return make


def _of_weight(graph: Graph, name: str, what: str, family: str, cause: str, size: float | None = None) -> Fault:
    reader = graph.readers(name)[0]
    if cause == "weights lost" and graph.array(name).ndim == 1 and reader.op_type not in _NORMS:
        cause = "bias lost"
    if reader.op_type in ("Sub", "Div") and reader.input[0] in {one.name for one in graph.model.graph.input}:
        cause = "input scaling"
    spot = replace(graph.spot(reader), folded=True)
    return Fault(family, f"{reader.op_type} weight: {what}", (spot,), name, cause, size)


_NORMS = ("LayerNormalization", "BatchNormalization")


def _learnt(graph: Graph, name: str) -> bool:
    array = graph.array(name)
    return array.dtype == np.float32 and array.size > 1 and bool(np.isfinite(array).all() and graph.readers(name))


def _kernel_flip(graph: Graph, rng: np.random.Generator) -> Fault:
    name = pick(rng, [name for name in graph.weights if _is_kernel(graph, name)])
    graph.put(name, weight_faults.flipped(graph.array(name), 2, 3))
    return _of_weight(graph, name, "kernel flipped", "weights", "kernel flip")


def _kernel_swap(graph: Graph, rng: np.random.Generator) -> Fault:
    name = pick(rng, [name for name in graph.weights if _is_kernel(graph, name)])
    graph.put(name, graph.array(name).swapaxes(2, 3))
    return _of_weight(graph, name, "height and width swapped", "weights", "kernel axes")


def _is_kernel(graph: Graph, name: str) -> bool:
    array = graph.array(name)
    return _learnt(graph, name) and array.ndim == 4 and array.shape[2] == array.shape[3] > 1


def _swapped_in_node(graph: Graph, rng: np.random.Generator) -> Fault:
    """Two weights of one node, each in the other's place."""
    node = pick(rng, graph.computing(*_NORMS))
    pairs = [(3, 4), (1, 2)] if node.op_type == "BatchNormalization" else [(1, 2)]
    a, b = pick(rng, pairs)
    node.input[a], node.input[b] = node.input[b], node.input[a]
    what = f"{node.op_type}: weights {a} and {b} swapped"
    return Fault("weights", what, (graph.spot(node),), node.output[0], "mean and variance")


def _rounded(to: int, name: str) -> Make:
    def make(graph: Graph, rng: np.random.Generator) -> Fault:
        node = pick(rng, graph.computing(*(_ROUNDED if rng.random() < 0.7 else _ALSO_ROUNDED)))
        read = [one for one in node.input if one in graph.shapes or (one in graph.weights and _real(graph, one))]
        for value in read:
            _round(graph, graph.place(node), value, to, [node])
        result = node.output[0]
        if not any(output.name == result for output in graph.model.graph.output):
            readers = [one for one in graph.nodes if result in one.input]
            _round(graph, graph.place(node) + 1, result, to, readers)
        return Fault("precision", f"{node.op_type} in {name}", (graph.spot(node),), result, "precision")

    return make


def _real(graph: Graph, weight: str) -> bool:
    return graph.array(weight).dtype == np.float32


def _round(graph: Graph, at: int, value: str, to: int, readers: list[Any]) -> None:
    """Cast there and back, for these readers."""
    short, back = f"{value}_short_{at}", f"{value}_back_{at}"
    graph.insert(
        at,
        helper.make_node("Cast", [value], [short], to=to),
        helper.make_node("Cast", [short], [back], to=TensorProto.FLOAT),
    )
    for reader in readers:
        for place, name in enumerate(reader.input):
            if name == value:
                reader.input[place] = back


FAMILIES: dict[str, dict[str, Make]] = {
    "weights": {
        **{what: _weight(change, what, "weights") for what, change in weight_faults.CHANGES.items()},
        "kernel flipped": _kernel_flip,
        "kernel axes": _kernel_swap,
        "swapped in a node": _swapped_in_node,
    },
    "attributes": onnx_attributes.KINDS,
    "wiring": onnx_wiring.KINDS,
    "precision": {
        "float16": _rounded(TensorProto.FLOAT16, "float16"),
        "bfloat16": _rounded(TensorProto.BFLOAT16, "bfloat16"),
        "int8": _weight(weight_faults.INT8, "int8", "precision"),
    },
}
