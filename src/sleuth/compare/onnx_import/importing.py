"""From an ONNX model to a graph of PyTorch operations, on a batch that settles all shapes."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

import numpy as np
import onnx
import torch
from torch import Tensor, fx

from sleuth.compare.onnx_import.building import Builder, Traced
from sleuth.compare.onnx_import.fusing import fuse
from sleuth.compare.onnx_import.operations import as_torch, torch_of
from sleuth.compare.onnx_import.walking import Walk
from sleuth.compare.side import CannotCompare
from sleuth.compare.values import Batch

_PLAIN = (
    "FLOAT DOUBLE FLOAT16 BFLOAT16 BOOL STRING INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 COMPLEX64 COMPLEX128"
)
_SMALL = set(onnx.TensorProto.DataType.values()) - {onnx.TensorProto.DataType.Value(name) for name in _PLAIN.split()}
# What a free dimension is taken for where no batch is given.
_FREE = 2


def import_onnx(model: Any, batch: Batch | None = None, folder: str = "") -> fx.GraphModule:
    """The model as it acts on inputs of this batch's shapes. `meta["batch_bound"]` of the result says why it holds for
    the batch's numbers alone, where it does. `folder` holds the weights that are kept beside the model's file."""
    load_translations()
    graph = model.graph
    _refuse_small_types(graph)
    weights = {one.name: as_torch(one, folder) for one in graph.initializer}
    inputs = [one for one in graph.input if one.name not in weights]
    examples = [_invented(one) for one in inputs] if batch is None else [_given(array) for array in batch]
    if len(examples) != len(inputs):
        raise CannotCompare(f"the ONNX model takes {len(inputs)} inputs, and was given {len(examples)}")
    builder = Builder(_real(examples, weights))
    values: dict[str, Any] = {name: builder.constant(tensor, name) for name, tensor in weights.items()}
    for one, example in zip(inputs, examples, strict=True):
        values[one.name] = _placed(builder, one.name, example)
    with torch.no_grad():
        Walk(builder, model, folder).graph(graph, values)
    builder.begin("", {})
    builder.graph.output(tuple(builder.node(_tensor(values, one.name)) for one in graph.output))
    fuse(builder)
    builder.graph.eliminate_dead_code()
    module = fx.GraphModule(_kept(builder), builder.graph)
    module.meta["batch_bound"] = list(dict.fromkeys(builder.batch_bound))
    return module


@cache
def load_translations() -> None:
    """Every family of operations registers its own."""
    from sleuth.compare.onnx_import import families

    for module in pkgutil.iter_modules(families.__path__):
        importlib.import_module(f"{families.__name__}.{module.name}")


def _placed(builder: Builder, name: str, example: Tensor) -> Traced:
    value = builder.placeholder(name, example)
    if value.dtype != example.dtype and not value.floating:
        widened = value.example
        value.example = example
        cast = builder.call(torch.ops.aten.to.dtype, value, widened.dtype)
        return cast
    return value


def _tensor(values: dict[str, Any], name: str) -> Traced:
    found = values.get(name)
    if not isinstance(found, Traced) or not isinstance(found.example, Tensor):
        raise CannotCompare(f"the ONNX model's output {name} is not a tensor")
    return found


def _kept(builder: Builder) -> dict[str, Any]:
    used = {str(node.target) for node in builder.graph.nodes if node.op == "get_attr"}
    return {path: tensor for path, tensor in builder.weights.items() if path in used}


def _refuse_small_types(graph: Any) -> None:
    """Weights of less than a byte can be widened; what is computed, or comes in, would have to be rounded to them."""
    for one in graph.input:
        if not one.type.HasField("tensor_type"):
            raise CannotCompare(f"the ONNX model's input {one.name} is not a tensor")
        if one.type.tensor_type.elem_type in _SMALL:
            kind = _name(one.type.tensor_type.elem_type)
            raise CannotCompare(f"the ONNX model's input {one.name} is {kind}, in which PyTorch does not compute")
    small = {one.name: one.data_type for one in graph.initializer if one.data_type in _SMALL}
    for node in graph.node:
        for name in node.input[2:] if node.op_type == "QuantizeLinear" else ():
            if name in small:
                raise CannotCompare(
                    f"the ONNX model quantises to {_name(small[name])}, which cannot be computed in PyTorch"
                )


def _name(code: int) -> str:
    return str(onnx.TensorProto.DataType.Name(code)).lower()


def _given(array: Any) -> Tensor:
    return array if isinstance(array, Tensor) else torch_of(array)


def _real(examples: list[Tensor], weights: dict[str, Tensor]) -> torch.dtype:
    wide = any(tensor.dtype == torch.float64 for tensor in examples)
    narrow = any(
        tensor.is_floating_point() and tensor.dtype != torch.float64 for tensor in [*examples, *weights.values()]
    )
    return torch.float64 if wide or not narrow else torch.float32


def _invented(one: Any) -> Tensor:
    kind = one.type.tensor_type
    shape = [dim.dim_value if dim.HasField("dim_value") else _FREE for dim in kind.shape.dim]
    try:
        return torch_of(np.ones(shape, dtype=onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)))
    except (KeyError, TypeError):
        raise CannotCompare(f"the ONNX model's input {one.name} is not a tensor of numbers") from None
