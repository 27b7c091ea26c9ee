"""What both sides of a comparison speak in: inputs, named values, and arrays of numbers."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sleuth.findings import Place

if TYPE_CHECKING:
    from sleuth.compare.origins import Origin

Array = NDArray[Any]
# One example of the inputs, in the order of the model's own signature.
Batch = tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a model: None where a dimension is free. `dtype` is NumPy's name."""

    name: str
    shape: tuple[int | None, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Value:
    """A value that a model computes on its way, as its own runtime names it.

    `op` is the name of the operation in lower case, PyTorch's where there is one (`linear`, `layer_norm`); `layer` the
    dotted path of the module or layer; `partner` the reference's node that it comes from, by the exporter's word."""

    name: str
    op: str = ""
    layer: str = ""
    place: Place | None = None
    partner: str = ""


@dataclass(slots=True)
class Captured:
    """One run with its inner values, in the order in which they were computed.

    `origins` is what an exporter wrote down about the values of the whole model, those that were not asked for too."""

    outputs: list[Array]
    values: list[Value] = field(default_factory=list)
    arrays: MutableMapping[str, Array] = field(default_factory=dict)
    origins: Mapping[str, Origin] = field(default_factory=dict)


@dataclass(slots=True)
class Trained:
    """One step of training: outputs in training mode, gradients by weight, and all weights and statistics after it."""

    outputs: list[Array] = field(default_factory=list)
    gradients: dict[str, Array] = field(default_factory=dict)
    after: dict[str, Array] = field(default_factory=dict)


def is_real(array: Array) -> bool:
    """Numbers whose rounding matters: floating point, or bfloat16 and its like."""
    return array.dtype.kind in "fc" or array.dtype.kind == "V" or "float" in array.dtype.name


def in_float64(array: Array) -> Array:
    return np.asarray(array, dtype=np.complex128 if array.dtype.kind == "c" else np.float64)


def gives_numbers(array: Array) -> bool:
    """Infinities are what a mask leaves for places that do not count; then some others are finite."""
    if not is_real(array) or not array.size or np.isfinite(array).all():
        return True
    return not np.isnan(array).any() and bool(np.isfinite(array).any())
