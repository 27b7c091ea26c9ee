"""A TensorFlow SavedModel in this process."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.remote_messages import one_line
from sleuth.compare.sides.savedmodel_values import worth_comparing
from sleuth.compare.values import Array, Batch, Captured, Input, Value


class LiveSavedModelSide(Side):
    """Answers by the signature itself; inner values from its graph, functions inlined and variables fixed."""

    def __init__(self, folder: str, title: str = "") -> None:
        self.title = title or folder
        self.runtime = f"TensorFlow {tf.__version__}"
        try:
            self._loaded = tf.saved_model.load(folder)
        except Exception as problem:
            raise CannotCompare(f"{self.title} cannot be read as a SavedModel: {one_line(problem)}") from None
        self._function = _signature(self._loaded, self.title)
        self._by_name = bool(self._function.structured_input_signature[1])
        self.inputs = tuple(Input(one.name, _shape(one.shape), one.dtype.name) for one in _specs(self._function))
        self._frozen: Any = None

    def run(self, batch: Batch) -> list[Array]:
        try:
            feeds = self._feeds(batch)
            answer = self._function(**feeds) if self._by_name else self._function(*feeds.values())
        except Exception as problem:
            raise CannotCompare(f"{self.title} cannot be run on these inputs: {one_line(problem)}") from None
        if isinstance(answer, dict):
            return [as_array(answer[name]) for name in sorted(answer, key=_in_number_order)]
        return [as_array(one) for one in tf.nest.flatten(answer)]

    def capture(self, batch: Batch, wanted: Collection[str] | None = None) -> Captured:
        outputs = self.run(batch)
        values = [one for one in self._values() if wanted is None or one[0].name in wanted]
        if not values:
            return Captured(outputs)
        feeds = self._feeds(batch)
        given = list(self._frozen.inputs)
        pruned = self._frozen.prune(given, [tensor for _, tensor in values])
        # In the order of the graph, which need not be the signature's: they are told by name.
        arrays = pruned(*(feeds[tensor.op.name] for tensor in given))
        named = {value.name: as_array(array) for (value, _), array in zip(values, arrays, strict=True)}
        return Captured(outputs, [value for value, _ in values], named)

    def weights(self) -> Mapping[str, Array]:
        variables = getattr(self._loaded, "variables", None) or self._function.graph.variables
        return {one.name.removesuffix(":0").replace("/", "."): as_array(one) for one in variables}

    def _values(self) -> list[tuple[Value, Any]]:
        if self._frozen is None:
            try:
                self._frozen = convert_variables_to_constants_v2(self._function, lower_control_flow=False)
            except Exception:  # a table, a variable that is assigned to: then there are answers alone
                self._frozen = ()
        return worth_comparing(self._frozen.graph.get_operations()) if self._frozen != () else []

    def _feeds(self, batch: Batch) -> dict[str, Any]:
        return {
            one.name: tf.constant(np.asarray(array), dtype=one.dtype)
            for one, array in zip(self.inputs, batch, strict=True)
        }


def _signature(loaded: Any, title: str) -> Any:
    signatures = dict(loaded.signatures) if hasattr(loaded, "signatures") else {}
    if "serving_default" in signatures:
        return signatures["serving_default"]
    if len(signatures) == 1:
        return next(iter(signatures.values()))
    if signatures:
        raise CannotCompare(
            f"{title} has several signatures and none is serving_default: {', '.join(sorted(signatures))}"
        )
    called = getattr(loaded.__call__, "concrete_functions", []) if callable(loaded) else []
    if len(called) == 1:
        return called[0]
    raise CannotCompare(f"{title} has no signature that can be called: export it with a serving_default signature")


def _specs(function: Any) -> list[Any]:
    positional, named = function.structured_input_signature
    if named:
        return [named[name] for name in sorted(named, key=_in_number_order)]
    return [one for one in tf.nest.flatten(positional) if isinstance(one, tf.TensorSpec)]


def _in_number_order(name: str) -> list[Any]:
    """`output_10` after `output_9`."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def _shape(shape: Any) -> tuple[int | None, ...]:
    return tuple(shape.as_list()) if shape.rank is not None else ()


def as_array(tensor: Any) -> Array:
    array = np.array(tensor)
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array
