"""A port to Keras, faultless or with a fault, before it is built; and where its layers are in PyTorch's network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import keras
import numpy as np
from keras import layers
from numpy.typing import NDArray
from torch import nn

from compare import port_weights
from compare.fault import Fault, Spot
from compare.onnx_graph import whole
from compare.ports import PORTS, Port

Array = NDArray[Any]
NORMS = (layers.LayerNormalization, layers.BatchNormalization)
# Layers of a port that are bare operations in PyTorch; of learnt places, the first weight is joined, the second added.
_AT_ROOT = {"scaling": ["sub", "div"], "flatten": ["permute", "flatten"], "places": ["cat", "add"]}


class Ported:
    """A port as it should be, and what it computes: the ground on which faults are put."""

    def __init__(self, kind: str, module: nn.Module, batch: tuple[Array, ...]) -> None:
        self.kind = kind
        self.module = module
        self.batch = batch
        self.weights = port_weights.converted(module)
        self.clean = Port()
        model = PORTS[kind](self.clean)
        port_weights.put(model, self.weights)
        self.right = answers(model, batch)


@dataclass(slots=True)
class Plan:
    """A port with a fault, before it is built."""

    ported: Ported
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    wires: dict[str, str] = field(default_factory=dict)
    masks: dict[str, int] = field(default_factory=dict)
    skips: list[str] = field(default_factory=list)
    swaps: list[str] = field(default_factory=list)
    weights: dict[str, list[Array]] = field(default_factory=dict)

    def built(self) -> Any:
        keras.utils.clear_session(free_memory=False)
        model = PORTS[self.ported.kind](Port(self.changes, self.wires, self.masks, self.skips, self.swaps))
        weights = {**self.ported.weights, **self.weights}
        port_weights.put(model, {name: arrays for name, arrays in weights.items() if name not in self.skips})
        return model

    def made(self, *kinds: Any) -> list[str]:
        return [name for name, made in self.ported.clean.made.items() if made["kind"] in kinds]

    def spots(self, name: str, part: int = 0) -> tuple[Spot, ...]:
        """Where a layer of the port is in PyTorch's network."""
        name = name.removesuffix(".inner").removesuffix(".pad")
        if name in _AT_ROOT and not is_layer(self.ported.module, name):
            places = _AT_ROOT[name]
            return tuple(
                Spot("", False, op=op, nth=0) for op in (places[part : part + 1] if name == "places" else places)
            )
        spots = [Spot(name, True)] if whole(self.ported.module, name) else []
        if "activation" in self.ported.clean.made.get(name, {}) and name.endswith(".up"):
            spots.append(Spot(name.removesuffix("up") + "act", True))
        return tuple(spots or [Spot(name, False, op="scaled_dot_product_attention", nth=0)])


Make = Callable[[Plan, np.random.Generator], Fault]


def is_layer(module: nn.Module, name: str) -> bool:
    return name in dict(module.named_modules())


def fault_of(
    plan: Plan, name: str, family: str, what: str, cause: str = "", size: float | None = None, part: int = 0
) -> Fault:
    return Fault(family, f"{name}: {what}", plan.spots(name, part), name, cause, size)


def answers(model: Any, batch: tuple[Array, ...]) -> list[Array]:
    """Images with their channels last."""
    arrays = [array.transpose(0, 2, 3, 1) if array.ndim == 4 else array for array in batch]
    result = model(arrays if len(arrays) > 1 else arrays[0], training=False)
    return [np.array(keras.ops.convert_to_numpy(result), np.float64)]
