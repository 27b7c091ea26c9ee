"""An ONNX model in ONNX Runtime."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sleuth.compare.side import CannotCompare, Side

try:
    import onnx  # noqa: F401
    import onnxruntime
except ImportError as missing:
    raise CannotCompare(f"an ONNX model needs {missing.name or 'onnxruntime'}: pip install 'sleuth-ml[onnx]'") from None

from sleuth.compare.origins import Origin
from sleuth.compare.reference import Reference, place_in
from sleuth.compare.shelf import Shelf
from sleuth.compare.sides.onnx_origins import layer_of, origins, told
from sleuth.compare.sides.onnx_precision import (
    FloatLayer,
    float_layers,
    precision,
    quantised_values,
    quantised_weights,
)
from sleuth.compare.sides.onnx_reading import Weights, bytes_of, folder_of, read
from sleuth.compare.sides.onnx_session import LEVELS, run, session, with_outputs
from sleuth.compare.sides.onnx_shapes import value_bytes
from sleuth.compare.sides.onnx_words import Words
from sleuth.compare.values import Array, Batch, Captured, Input, Value


class OnnxSide(Side):
    """The file as it is. The outputs are those of ONNX Runtime's usual optimisations, as it will be deployed; the inner
    values those of the graph as written. `made_from` is what it was made from, by a tool that loses the notes."""

    # What one run may give back besides the outputs; a larger model is run several times.
    bytes_a_pass = 1 << 29
    origins: Mapping[str, Origin]
    _layers: Mapping[str, str]

    def __init__(self, path: str | Path, title: str = "", made_from: OnnxSide | None = None) -> None:
        self.path = Path(path)
        self.title = title or str(path)
        self.runtime = f"ONNX Runtime {onnxruntime.__version__}, CPU"
        self.model = read(self.path)
        self.folder = folder_of(self.path)
        graph = self.model.graph
        self.precision = precision(graph)
        self._sessions = {"all": session(self.model, self.folder, self.title)}
        self.inputs = tuple(
            Input(one.name, tuple(n if isinstance(n, int) else None for n in one.shape), _dtype(one.type))
            for one in self._sessions["all"].get_inputs()
        )
        self.output_names = tuple(one.name for one in graph.output)
        self._check_outputs()
        self.origins = _kept(graph, made_from.origins if made_from else {}, origins(graph))
        self._layers = {**(made_from._layers if made_from else {}), **_layers(graph)}
        self._words = Words(graph, self.origins)
        self._references: dict[Any, Reference] = {}
        self._folders: list[tempfile.TemporaryDirectory[str]] = []
        if self.precision == "int8":
            self.quantised, self.left_in_float = self._quantised_and_not()

    def _check_outputs(self) -> None:
        for one in self._sessions["all"].get_outputs():
            if not one.type.startswith("tensor("):
                raise CannotCompare(f"{self.title}: its output {one.name} is {one.type}, not a tensor")

    def run(self, batch: Batch) -> list[Array]:
        return self.run_at(batch, "all")

    def run_at(self, batch: Batch, level: str) -> list[Array]:
        """With so much of ONNX Runtime's optimisation: none, basic, extended, all."""
        if level not in self._sessions:
            self._sessions[level] = session(self.model, self.folder, self.title, level)
        return run(self._sessions[level], list(self.output_names), self._feeds(batch), self.title)

    def optimiser_parts(self, batch: Batch, parted: Callable[[list[Array]], bool]) -> str | None:
        """The first level of optimisation that makes outputs `parted` that are not so without any."""
        if not parted(self.run(batch)) or parted(self.run_at(batch, "none")):
            return None
        return next((level for level in LEVELS if parted(self.run_at(batch, level))), None)

    def own_fault(self, batch: Batch, parted: Callable[[list[Array]], bool]) -> str:
        level = self.optimiser_parts(batch, parted)
        return f"without ONNX Runtime's optimisations it agrees; from level “{level}” on it does not" if level else ""

    def capture(self, batch: Batch, wanted: Collection[str] | None = None) -> Captured:
        names = [name for node in self.model.graph.node for name in node.output if name]
        asked = [name for name in names if name not in self.output_names and (wanted is None or name in wanted)]
        outputs = self.run(batch)
        found = Captured(outputs, arrays=Shelf(), origins=self.origins)
        found.arrays.update(zip(self.output_names, outputs, strict=True))
        for part in self.passes(batch, asked):
            found.arrays.update(self._inner(batch, part))
        found.values = [
            self._value(node, name) for node in self.model.graph.node for name in node.output if name in found.arrays
        ]
        return found

    def passes(self, batch: Batch, names: Sequence[str]) -> Iterator[list[str]]:
        """These values in as few parts as one run has room for."""
        sizes = value_bytes(self.model, self._feeds(batch))
        part: list[str] = []
        held = 0
        for name in names:
            if part and held + sizes[name] > self.bytes_a_pass:
                yield part
                part, held = [], 0
            part.append(name)
            held += sizes[name]
        if part:
            yield part

    def _inner(self, batch: Batch, names: list[str]) -> dict[str, Array]:
        """Without those that have no form in NumPy: sequences, and types that it lacks."""
        try:
            wider = session(with_outputs(self.model, names), self.folder, self.title, "none")
            found = zip(names, run(wider, names, self._feeds(batch), self.title), strict=True)
            return {name: array for name, array in found if isinstance(array, np.ndarray)}
        except CannotCompare:
            half = len(names) // 2
            return {**self._inner(batch, names[:half]), **self._inner(batch, names[half:])} if half else {}

    def reference(self, batch: Batch) -> Reference:
        """In PyTorch's operations, so that it can be run in float64; shapes, and at times numbers, are built in."""
        from sleuth.compare.onnx_import import import_onnx

        shapes = tuple((array.shape, array.dtype.name) for array in batch)
        if shapes not in self._references:
            module = import_onnx(self.model, batch, self.folder)
            found = Reference(module)
            if module.meta.get("batch_bound"):
                return found
            self._references[shapes] = found
        return self._references[shapes]

    def _value(self, node: Any, name: str) -> Value:
        notes = told(node)
        stack = notes.get("stack_trace") or (self.origins[name].stack if name in self.origins else "")
        return Value(name, self._words.of(node, name), self._layers.get(name, ""), place_in(stack))

    def float_layers(self) -> list[FloatLayer]:
        """The layers whose weights are floating-point numbers, with their sizes."""
        return float_layers(self.model.graph)

    def _quantised_and_not(self) -> tuple[frozenset[str] | None, tuple[str, ...]]:
        """The layers, where the file tells them; a weight's own name tells of one that was fused with the next."""
        graph = self.model.graph
        layers = _layers_after(graph, self._layers, quantised_values(graph)).values()
        quantised = {layer for layer in layers if layer is not None} | quantised_weights(graph)
        in_float = _layers_after(graph, self._layers, [one.value for one in self.float_layers()])
        left = tuple(dict.fromkeys(layer or value for value, layer in in_float.items()))
        return (None if None in layers else frozenset(quantised)), left

    def weights(self) -> Mapping[str, Array]:
        return Weights(self.model.graph, self.folder)

    @property
    def size(self) -> int:
        return bytes_of(self.path, self.model)

    def keep(self, folder: tempfile.TemporaryDirectory[str]) -> None:
        """The folder in which its file is, to be removed with it."""
        self._folders.append(folder)

    def close(self) -> None:
        self._sessions.clear()
        while self._folders:
            self._folders.pop().cleanup()

    def _feeds(self, batch: Batch) -> dict[str, Array]:
        return {one.name: np.asarray(array) for one, array in zip(self.inputs, batch, strict=True)}


def _layers_after(graph: Any, layers: Mapping[str, str], values: Iterable[str]) -> dict[str, str | None]:
    """The layer of each value, or of the first computed from it whose layer is known: a quantiser's own have none."""
    users = {name: node for node in reversed(graph.node) for name in node.input}
    found: dict[str, str | None] = {}
    for value in values:
        here = value
        while here not in layers and here in users:
            here = next((name for name in users[here].output if name), "")
        found[value] = layers.get(here)
    return found


def _kept(graph: Any, before: Mapping[str, Origin], own: Mapping[str, Origin]) -> dict[str, Origin]:
    names = {name for node in graph.node for name in node.output}
    return {**{name: origin for name, origin in before.items() if name in names}, **own}


def _layers(graph: Any) -> dict[str, str]:
    """By value: by the exporter's notes, or by the name of the node where that is a path of modules."""
    found: dict[str, str] = {}
    for node in graph.node:
        notes = told(node)
        layer = layer_of(notes) if "name_scopes" in notes else _of_path(node.name)
        if layer is not None:
            found.update(dict.fromkeys(node.output, layer))
    return found


def _of_path(name: str) -> str | None:
    """`/blocks.0/norm/Add` is in `blocks.0.norm`."""
    if not name.startswith("/"):
        return None
    *path, _ = name.strip("/").split("/")
    # A child's path may repeat its parent's: /blocks/blocks.0/norm
    own = [
        part for place, part in enumerate(path) if place + 1 == len(path) or not path[place + 1].startswith(f"{part}.")
    ]
    return ".".join(own)


def _dtype(name: str) -> str:
    inner = name.removeprefix("tensor(").removesuffix(")")
    return {"float": "float32", "double": "float64", "string": "str"}.get(inner, inner)
