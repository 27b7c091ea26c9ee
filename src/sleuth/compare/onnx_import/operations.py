"""What an operation's translation is given, and where translations are found by the operation's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import torch
from onnx import helper, numpy_helper
from torch import Tensor

from sleuth.compare.onnx_import.building import Builder, Traced
from sleuth.compare.side import CannotCompare

Translation = Callable[[Builder, "Step"], Any]
Kind = TypeVar("Kind", bound=Translation)
TRANSLATIONS: dict[str, Translation] = {}


def operation(*names: str) -> Callable[[Kind], Kind]:
    """The translation of these ONNX operations."""

    def register(translation: Kind) -> Kind:
        TRANSLATIONS.update(dict.fromkeys(names, translation))
        return translation

    return register


@dataclass(slots=True)
class Step:
    """One node of the ONNX graph, with the values that it takes."""

    op: str
    name: str
    inputs: list[Any]
    outputs: list[str]
    opset: int
    attributes: dict[str, Any] = field(default_factory=dict)
    # Values by name, for subgraphs, which see those around them.
    around: dict[str, Any] = field(default_factory=dict)
    builder: Builder | None = None
    # `walk.inner(graph, around, inputs)` translates a subgraph.
    walk: Any = None

    def input(self, place: int) -> Any:
        return self.inputs[place] if place < len(self.inputs) else None

    def has(self, place: int) -> bool:
        return self.input(place) is not None

    def wants(self, place: int) -> bool:
        """Is this output used under a name."""
        return place < len(self.outputs) and bool(self.outputs[place])

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def known(self, place: int) -> Tensor:
        """An input that says how to compute, not what from."""
        value: Traced = self.inputs[place]
        if not value.constant and self.builder is not None:
            self.builder.batch_bound.append(f"{self.op} takes its {_role(self.op, place)} from computed numbers")
        tensor: Tensor = value.example
        return tensor

    def ints(self, place: int) -> list[int]:
        return [int(number) for number in self.known(place).reshape(-1)]

    def int_or(self, place: int, default: int) -> int:
        return self.ints(place)[0] if self.has(place) else default

    def axes(self, place: int, name: str = "axes") -> list[int] | None:
        """Axes, which older versions have as an attribute and newer ones as an input."""
        if self.has(place):
            return self.ints(place)
        found = self.get(name)
        return None if found is None else list(found)

    def refuse(self, why: str) -> CannotCompare:
        return CannotCompare(f"the model uses the ONNX operation {self.op} {why}, which cannot be computed in PyTorch")


def _role(op: str, place: int) -> str:
    return {"Reshape": "shape", "Expand": "shape", "Slice": "bounds", "If": "condition", "Loop": "length"}.get(
        op, f"input {place + 1}"
    )


def read_attributes(attributes: Any, given: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """By name; one that refers to a function's attribute takes the value that the function was given."""
    found: dict[str, Any] = {}
    for attribute in attributes:
        if attribute.ref_attr_name:
            if attribute.ref_attr_name in given:
                found[attribute.name] = given[attribute.ref_attr_name]
            continue
        value = helper.get_attribute_value(attribute)
        found[attribute.name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return as_written(value)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value


def as_written(number: float) -> float:
    """ONNX keeps 1e-05 in float32, as 9.99999974e-06; the shortest number that rounds to it is meant."""
    narrow = np.float32(number)
    return (
        float(np.format_float_scientific(narrow, unique=True)) if np.isfinite(narrow) and narrow == number else number
    )


def as_torch(tensor: Any, place: str = "") -> Tensor:
    """A TensorProto's numbers."""
    try:
        array = numpy_helper.to_array(tensor, place)
    except Exception as problem:
        first = (str(problem).splitlines() or [type(problem).__name__])[0]
        raise CannotCompare(f"the weight {tensor.name} of the ONNX model cannot be read: {first}") from None
    return torch_of(array)


def torch_of(array: Any) -> Tensor:
    array = np.asarray(array)
    if array.dtype.kind not in "fiubc" or array.dtype.name.startswith(
        ("bfloat", "float8", "int4", "uint4", "int2", "uint2")
    ):
        if array.dtype.kind in "OSU":
            raise CannotCompare("the ONNX model computes with text, which cannot be compared")
        array = array.astype(np.int8 if "int" in array.dtype.name else np.float32)
    return torch.from_numpy(np.ascontiguousarray(array).reshape(array.shape).copy())
