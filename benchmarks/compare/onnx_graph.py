"""Questions to an exported ONNX graph: what computes on data, who reads a weight, which operation it was in PyTorch."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from torch import nn

from compare.fault import Spot

Array = NDArray[Any]
_SCOPES = re.compile(r"'([^']*)'")
_LINES = re.compile(r'File "[^"]*networks\.py", line (\d+)')
_TARGET = re.compile(r"target=torch\.ops\.aten\.(\w+)")


class Graph:
    """A copy of the model that may be changed; shapes are those of one batch."""

    def __init__(self, model: Any, module: nn.Module, shapes: dict[str, tuple[int, ...]]) -> None:
        self.model = onnx.ModelProto()
        self.model.CopyFrom(model)
        self.module = module
        self.shapes = shapes
        self.nodes = list(self.model.graph.node)
        self.weights = {one.name: one for one in self.model.graph.initializer}
        self.data = self._data()

    def _data(self) -> set[str]:
        """The values that depend on the numbers of the input, not on its shape alone."""
        found = {one.name for one in self.model.graph.input}
        for node in self.nodes:
            if node.op_type != "Shape" and any(name in found for name in node.input):
                found.update(name for name in node.output if name)
        return found

    def computing(self, *ops: str) -> list[Any]:
        return [node for node in self.nodes if node.op_type in ops and any(name in self.data for name in node.input)]

    def readers(self, weight: str) -> list[Any]:
        """The first operations on data that a weight comes to, through whatever only rearranges it."""
        found: list[Any] = []
        names = {weight}
        for node in self.nodes:
            if any(name in names for name in node.input):
                if any(name in self.data for name in node.input):
                    found.append(node)
                else:
                    names.update(node.output)
        return found

    def array(self, weight: str) -> Array:
        return np.array(numpy_helper.to_array(self.weights[weight]))

    def put(self, weight: str, array: Array) -> None:
        dtype = self.array(weight).dtype
        self.weights[weight].CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array, dtype), weight))

    def before(self, node: Any) -> list[str]:
        """The values of data that exist before this node is computed."""
        return [
            name
            for earlier in self.nodes[: self.place(node)]
            for name in earlier.output
            if name in self.data and name in self.shapes
        ]

    def place(self, node: Any) -> int:
        return next(at for at, one in enumerate(self.nodes) if one is node)

    def insert(self, at: int, *nodes: Any) -> None:
        self.nodes[at:at] = nodes

    def finished(self) -> Any:
        """The model with its nodes as they now are."""
        finished = onnx.ModelProto()
        finished.CopyFrom(self.model)
        del finished.graph.node[:]
        finished.graph.node.extend(self.nodes)
        del finished.graph.value_info[:]
        return finished

    def spot(self, node: Any) -> Spot:
        told = {entry.key: entry.value for entry in node.metadata_props}
        scopes = _SCOPES.findall(told.get("pkg.torch.onnx.name_scopes", ""))
        layer = scopes[-2] if len(scopes) > 1 else ""
        target = _TARGET.search(told.get("pkg.torch.onnx.fx_node", ""))
        return Spot(
            layer,
            whole(self.module, layer),
            scopes[-1] if scopes else "",
            target[1] if target else "",
            tuple(map(int, _LINES.findall(told.get("pkg.torch.onnx.stack_trace", "")))),
            fused="FuseBatchNorm" in told.get("pkg.onnxscript.rewriter.rule_name", ""),
        )


def whole(module: nn.Module, layer: str) -> bool:
    """A layer of PyTorch's own, whose operations a report need not tell apart."""
    return bool(layer) and type(module.get_submodule(layer)).__module__.startswith("torch.nn")


def attribute(node: Any, name: str, default: Any = None) -> Any:
    found = next((one for one in node.attribute if one.name == name), None)
    return default if found is None else helper.get_attribute_value(found)


def set_attribute(node: Any, name: str, value: Any) -> None:
    kept = [one for one in node.attribute if one.name != name]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(name, value)])


def session(model: Any) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(model: Any, batch: tuple[Array, ...]) -> list[Array]:
    names = [one.name for one in model.graph.input]
    return list(session(model).run(None, dict(zip(names, batch, strict=True))))


def shapes(model: Any, batch: tuple[Array, ...]) -> dict[str, tuple[int, ...]]:
    """Of every real value, as ONNX Runtime computes it."""
    wider = onnx.ModelProto()
    wider.CopyFrom(model)
    known = {one.name for one in wider.graph.output}
    names = [name for node in wider.graph.node for name in node.output if name and name not in known]
    wider.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    arrays = run(wider, batch)
    found = dict(zip([one.name for one in wider.graph.output], arrays, strict=True))
    return {name: array.shape for name, array in found.items() if array.dtype.kind == "f"}
