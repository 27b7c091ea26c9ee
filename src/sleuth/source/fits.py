"""Does what goes into a layer have the size the layer was made for?"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Final

from sleuth.findings import Edit, Fix
from sleuth.source import shapes, tell
from sleuth.source.layer_shapes import UNKNOWN_OPTIONS, spatial_axes, whole
from sleuth.source.sites import Spot
from sleuth.source.values import Value

# Names in a condition around a call that say: the shape was looked at.
_SHAPE_WORDS: Final = ("shape", "size", "ndim", "dim", "len", "numel", "in_channels", "channels", "in_features")
_FEATURES: Final = {
    "torch.nn.Linear": ("0", "in_features"),
    "torch.nn.LSTM": ("0", "input_size"),
    "torch.nn.GRU": ("0", "input_size"),
    "torch.nn.RNN": ("0", "input_size"),
    "torch.nn.LayerNorm": ("0", "normalized_shape"),
}
_CHANNELS: Final = {
    **{f"torch.nn.Conv{n}d": ("0", "in_channels") for n in (1, 2, 3)},
    **{f"torch.nn.ConvTranspose{n}d": ("0", "in_channels") for n in (1, 2, 3)},
    **{f"torch.nn.BatchNorm{n}d": ("0", "num_features") for n in (1, 2, 3)},
    "torch.nn.GroupNorm": ("1", "num_channels"),
}


@dataclass(frozen=True, slots=True)
class Misfit:
    """A layer, the size it expects, and the size it is given."""

    layer: Value
    option: Value
    expected: int
    given: int

    @property
    def name(self) -> str:
        return self.layer.api.rpartition(".")[2]

    def fix(self) -> Fix:
        """Write the right number into the layer, where the wrong one is written there itself."""
        argument = self.option.node
        title = f"{self.name} with {self.given} instead of {self.expected}"
        return Fix(title, self._edits(argument) if isinstance(argument, ast.expr) else ())

    def _edits(self, argument: ast.expr) -> tuple[Edit, ...]:
        made = self.layer.node
        written = isinstance(made, ast.Call) and argument in (*made.args, *(one.value for one in made.keywords))
        return (tell.replace(self.layer.unit, argument, str(self.given)),) if written and self.layer.unit else ()


def features(layer: Value, value: Value) -> Misfit | None:
    """Of a Linear, LSTM or LayerNorm: the last axis."""
    return _compared(layer, _FEATURES.get(layer.api), shapes.last_size(value))


def channels(layer: Value, value: Value) -> Misfit | None:
    """Of a convolution or batch normalisation: the axis behind the batch."""
    names = _CHANNELS.get(layer.api)
    shape = value.shape
    if names is None or shape is None:
        return None
    count = spatial_axes(layer)
    if "Norm" in layer.api:
        ranks = (2, 3) if layer.api == "torch.nn.BatchNorm1d" else (count + 2,) if count else tuple(range(2, 6))
        given = shape[1] if len(shape) in ranks else None
    else:
        given = shape[-count - 1] if len(shape) in (count + 1, count + 2) else None
    return _compared(layer, names, given)


def _compared(layer: Value, names: tuple[str, str] | None, given: int | None) -> Misfit | None:
    if names is None or given is None or UNKNOWN_OPTIONS in layer.options:
        return None
    option = layer.option(*names)
    expected = whole(option)
    if option is None or expected is None or expected == given or expected < 1:
        return None
    return Misfit(layer, option, expected, given)


def was_looked_at(spot: Spot) -> bool:
    """May the shapes be others here, because the program asks for them, tries, or tests that it fails?"""
    return "try" in spot.guards or spot.guarded_by(*_SHAPE_WORDS) or (bool(spot.withs) and spot.file.is_test)


def flattening(value: Value) -> Value | None:
    """The flatten or view that a value comes from, behind dropout and activations."""
    for _ in range(8):
        if value.op in ("flatten", "view", "reshape"):
            return value
        if (
            value.op not in ("relu", "leaky_relu", "dropout", "tanh", "sigmoid", "contiguous", "to", "float")
            or not value.inputs
        ):
            return None
        value = value.inputs[0]
    return None


def through(parts: list[Value]) -> list[tuple[Value, Value]]:
    """The layers of a Sequential, each with what it is given, as far as that can be told without an input."""
    value = Value("tensor")
    pairs = []
    for part in parts:
        pairs.append((part, value))
        after = Value("tensor", part.node, op=shapes.operation_of_layer(part), inputs=(value, part))
        after.shape = shapes.of_layer(part, [value]) if part.kind == "module" else None
        value = after
    return pairs
