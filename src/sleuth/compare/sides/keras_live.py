"""A Keras 3 model in this process, on whichever backend is active here."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
from keras.src import backend

from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.keras_mode import inference
from sleuth.compare.sides.keras_taps import Taps
from sleuth.compare.sides.remote_messages import one_line
from sleuth.compare.values import Array, Batch, Captured, Input, Trained

if TYPE_CHECKING:
    from sleuth.compare.reference import Reference

_UNKNOWN_CLASS = re.compile(r"Could not locate class '(\w+)'")


def load(path: str | Path, trust: bool = False) -> Any:
    """The model in a `.keras` file; code in it is run only if it is trusted."""
    try:
        return keras.saving.load_model(str(path), compile=False, safe_mode=not trust)
    except Exception as problem:
        said = str(problem)
        if not trust and ("safe_mode" in said or "unsafe_deserialization" in said):
            raise CannotCompare(
                f"{path} holds Python code (a Lambda layer) that loading would run; add --trust if you know its origin"
            ) from None
        if missing := _UNKNOWN_CLASS.search(said):
            raise CannotCompare(
                f"{path} has a class that Keras does not know here, {missing[1]}: name a function that builds or loads "
                "the model instead, as in port.py:model"
            ) from None
        raise CannotCompare(f"{path} cannot be read as a Keras model: {one_line(problem)}") from None


class LiveKerasSide(Side):
    """The model as it is, called once, in inference mode but for the layers that it keeps in training mode itself."""

    def __init__(self, model: Any, title: str = "") -> None:
        self.model = model
        self.title = title or str(model.name)
        self.runtime = f"Keras {keras.__version__} on {backend.backend()}"
        self.precision = _precision(model)
        self.inputs = _inputs(model)
        self._reference: Reference | None = None

    def run(self, batch: Batch) -> list[Array]:
        with _no_gradient():
            return [as_array(leaf) for leaf in keras.tree.flatten(self._called(batch)) if leaf is not None]

    def capture(self, batch: Batch, wanted: Collection[str] | None = None) -> Captured:
        taps = Taps(as_array, wanted)
        with _no_gradient():
            result = taps.watch(lambda: self._called(batch))
        outputs = [as_array(leaf) for leaf in keras.tree.flatten(result) if leaf is not None]
        return Captured(outputs, taps.values, taps.arrays)

    def _called(self, batch: Batch) -> Any:
        tensors = [backend.convert_to_tensor(array) for array in batch]
        try:
            return self.model(*self._arranged(tensors), **inference(self.model))
        except CannotCompare:
            raise
        except Exception as problem:
            raise CannotCompare(f"{self.title} cannot be run on these inputs: {one_line(problem)}") from None

    def _arranged(self, tensors: list[Any]) -> tuple[Any, ...]:
        """As the model's own signature has them: one argument, which may be a list or a dict, or several."""
        structure = getattr(self.model, "_inputs_struct", None)
        if structure is not None and len(tensors) == len(keras.tree.flatten(structure)):
            return (keras.tree.pack_sequence_as(structure, tensors),)
        if len(tensors) > 1 and _takes(self.model) < len(tensors):
            return (tensors,)
        return tuple(tensors)

    def reference(self, batch: Batch) -> Reference | None:
        if backend.backend() != "torch":
            return None
        from sleuth.compare.sides import keras_graph

        if self._reference is None:
            self._reference = keras_graph.reference(self.model, self._arranged, batch, self.run(batch), self.precision)
        return self._reference

    def weights(self) -> Mapping[str, Array]:
        return {name: as_array(variable.value) for name, variable in self._variables().items()}

    def trained(self, batch: Batch, rate: float) -> Trained:
        from sleuth.compare.sides.keras_training import trained_step

        inputs = self._arranged([backend.convert_to_tensor(array) for array in batch])
        return trained_step(self.model, inputs, rate, self._variables(), as_array)

    def _variables(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for variable in self.model.weights:
            name = str(variable.path).removeprefix(f"{self.model.name}/").replace("/", ".")
            count = sum(one == name or one.startswith(f"{name}:") for one in found)
            found[f"{name}:{count}" if count else name] = variable
        return found


def as_array(tensor: Any) -> Array:
    """A copy of its numbers; bfloat16, which NumPy has not, as float32."""
    array = np.array(backend.convert_to_numpy(tensor))
    return array.astype(np.float32) if array.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2") else array


@contextmanager
def _no_gradient() -> Iterator[None]:
    if backend.backend() != "torch":
        yield
        return
    import torch

    with torch.no_grad():
        yield


def _inputs(model: Any) -> tuple[Input, ...]:
    try:
        tensors = keras.tree.flatten(model.inputs)
    except (AttributeError, ValueError):
        tensors = []
    return tuple(
        Input(str(one.name), tuple(None if n is None else int(n) for n in one.shape), str(one.dtype))
        for one in tensors
        if one is not None
    )


def _takes(model: Any) -> int:
    """How many inputs a subclassed model's `call` has."""
    parameters = inspect.signature(model.call).parameters.values()
    return sum(
        one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) and one.name not in ("training", "mask")
        for one in parameters
    )


def _precision(model: Any) -> str:
    layers = model._flatten_layers()
    quantised = any(getattr(layer, "quantization_mode", None) in ("int8", "int4") for layer in layers)
    return "int8" if quantised else str(getattr(model, "compute_dtype", "float32"))
