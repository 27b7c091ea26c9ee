"""A TorchScript graph that gives back every tensor which it computes on its way."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from sleuth.compare.reference import as_array
from sleuth.compare.sides.quietly import quietly
from sleuth.compare.values import Array, Value
from sleuth.findings import Place
from sleuth.program import is_users, place_at

Told = tuple[list[Value], dict[str, Array]]
# Of a traced module "path(line): function", of a scripted one 'File "path", line 3'; the innermost comes first.
_FRAME = re.compile(
    r'^(?:\s*File "(?P<script>[^"]+)", line (?P<script_line>\d+)|(?P<trace>[^\n(]+)\((?P<trace_line>\d+)\): )', re.M
)


def telling(model: Any) -> Callable[..., Told] | None:
    """A function of the module's own inputs; None where PyTorch will not have it."""
    try:
        with quietly():
            graph = _flat_graph(model)
            nodes = [node for node in graph.nodes() if node.kind().startswith("aten::")]
            told = [
                (one, node) for node in nodes for one in node.outputs() if isinstance(one.type(), torch._C.TensorType)
            ]
            function = _giving_back(graph, [one for one, _ in told])
    except (RuntimeError, AttributeError):
        return None
    names = [f"{one.debugName()}" for one, _ in told]
    origins = [(node.kind().removeprefix("aten::").removesuffix("_"), _place(node.sourceRange())) for _, node in told]

    def tell(*arguments: Tensor) -> Told:
        values: list[Value] = []
        arrays: dict[str, Array] = {}
        for name, (op, place), tensor in zip(names, origins, function(*arguments), strict=True):
            arrays[name] = as_array(tensor)
            values.append(Value(name, f"conv{tensor.dim() - 2}d" if op == "_convolution" else op, "", place))
        return values, arrays

    return tell


def _flat_graph(model: Any) -> Any:
    """One graph without calls, its weights constants in it; nothing is folded, so that every value stays."""
    if hasattr(model, "training"):
        model = torch.jit.freeze(model, optimize_numerics=False)
    graph = model.graph.copy()
    torch._C._jit_pass_inline(graph)
    return graph


def _giving_back(graph: Any, values: list[Any]) -> Any:
    tensor = torch._C.TensorType.get()
    bundle = graph.create("prim::TupleConstruct", values, 1)
    bundle.output().setType(torch._C.TupleType([tensor] * len(values)))
    graph.appendNode(bundle)
    while list(graph.outputs()):
        graph.eraseOutput(0)
    graph.registerOutput(bundle.output())
    graph.eraseInput(0)  # the module itself, which a graph with its weights inside needs no more
    return torch._C._create_function_from_graph("forward", graph)


def _place(source: str) -> Place | None:
    """The innermost line of the user's own."""
    for frame in _FRAME.finditer(source):
        path, line = frame["script"] or frame["trace"], frame["script_line"] or frame["trace_line"]
        if is_users(path):
            return place_at(path, int(line))
    return None
