"""What an ONNX file says about the shapes of its values, and from that how many bytes they take in a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import onnx

from sleuth.compare.values import Array

Shape = tuple[int | None, ...]
# Shape inference reads small tensors (the sizes of a Reshape); it has no use for larger ones.
_SMALL = 1024


def attribute(node: Any, name: str, otherwise: Any) -> Any:
    for one in node.attribute:
        if one.name == name:
            return onnx.helper.get_attribute_value(one)
    return otherwise


def shapes(graph: Any) -> dict[str, Shape]:
    """Of the weights and of all values whose shapes are written down."""
    found: dict[str, Shape] = {one.name: tuple(one.dims) for one in graph.initializer}
    for node in graph.node:
        constant = attribute(node, "value", None) if node.op_type == "Constant" else None
        if constant is not None and node.output:
            found[node.output[0]] = tuple(constant.dims)
    for one in (*graph.input, *graph.value_info, *graph.output):
        kind = one.type.tensor_type
        if one.type.HasField("tensor_type") and kind.HasField("shape"):
            found.setdefault(
                one.name, tuple(axis.dim_value if axis.HasField("dim_value") else None for axis in kind.shape.dim)
            )
    return found


def value_bytes(model: Any, given: Mapping[str, Array]) -> dict[str, int]:
    """The room that each value takes when the model is given these inputs; as much as the largest where unknown."""
    inferred = _inferred(model, given)
    names = [name for node in model.graph.node for name in node.output if name]
    known = shapes(inferred.graph)
    widths = {
        one.name: _width(one.type.tensor_type.elem_type) for one in (*inferred.graph.value_info, *inferred.graph.output)
    }
    sizes = {
        name: math.prod(n or 1 for n in known[name]) * widths.get(name, 4)
        for name in names
        if name in known and None not in known[name]
    }
    most = max([*sizes.values(), *(array.nbytes for array in given.values())], default=0)
    return {name: sizes.get(name, most) for name in names}


def _inferred(model: Any, given: Mapping[str, Array]) -> Any:
    """The shapes of one run, worked out on a copy without its large weights."""
    light = _without_weights(model)
    for one in light.graph.input:
        if one.name in given:
            shape = one.type.tensor_type.shape
            shape.ClearField("dim")
            for n in given[one.name].shape:
                shape.dim.add().dim_value = n
    for one in light.graph.output:
        one.type.tensor_type.ClearField("shape")
    try:
        return onnx.shape_inference.infer_shapes(light, data_prop=True)
    except Exception:  # an operator that it does not know, or a model that contradicts itself
        return light


def _without_weights(model: Any) -> Any:
    graph = model.graph
    light = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import, functions=model.functions)
    light.graph.CopyFrom(onnx.GraphProto(name=graph.name, node=graph.node, input=graph.input, output=graph.output))
    listed = {one.name for one in graph.input}
    for one in graph.initializer:
        if math.prod(one.dims) <= _SMALL and not one.external_data:
            light.graph.initializer.append(one)
        elif one.name not in listed:
            light.graph.input.append(onnx.helper.make_tensor_value_info(one.name, one.data_type, list(one.dims)))
    return light


def _width(kind: int) -> int:
    try:
        return int(onnx.helper.tensor_dtype_to_np_dtype(kind).itemsize)
    except Exception:  # strings, and what has no type
        return 8
