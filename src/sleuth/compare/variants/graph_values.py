"""The inner values of a graph as it is: in its own types, with the names that the reference knows them by."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import torch
from torch import Tensor, fx

from sleuth.compare.precision import cast
from sleuth.compare.reference import Reference, as_array
from sleuth.compare.values import Array, Captured, Value


def captured(
    graph: Reference, arguments: Sequence[Any], outputs: list[Array], wanted: Collection[str] | None
) -> Captured:
    """`outputs` are those of the model itself; the values are told by its graph."""
    recorder = _Recorder(graph, wanted)
    with torch.no_grad():
        recorder.run(*arguments, enable_io_processing=False)
    values = [_partnered(graph.value(name)) for name in recorder.kept]
    return Captured(outputs, values, recorder.kept)


def _partnered(value: Value) -> Value:
    return Value(value.name, value.op, value.layer, value.place, value.name)


class _Recorder(fx.Interpreter):
    def __init__(self, graph: Reference, wanted: Collection[str] | None) -> None:
        super().__init__(graph.graph)
        self._wanted = set(graph.names if wanted is None else wanted)
        self.kept: dict[str, Array] = {}

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A number written for float32, such as that of a mask, may be out of range where autocast chose a half."""
        try:
            return super().call_function(target, args, kwargs)
        except RuntimeError:
            for half in (torch.bfloat16, torch.float16):
                args, kwargs = cast((args, kwargs), half, torch.float32)
            return super().call_function(target, args, kwargs)

    def run_node(self, n: fx.Node) -> Any:
        result = super().run_node(n)
        if n.name in self._wanted and isinstance(result, Tensor):
            self.kept[n.name] = as_array(result)
        return result
