"""The last layer of a network: how many outputs it has, and how to leave an activation out behind it."""

from __future__ import annotations

import ast
from typing import Final

from sleuth.findings import Edit, Fix
from sleuth.source import tell
from sleuth.source.scopes import File
from sleuth.source.values import Value

# Operations after which the last dimension is what it was before.
_KEEP_WIDTH: Final = frozenset(
    "softmax log_softmax sigmoid log_sigmoid relu leaky_relu tanh softplus dropout batch_norm identity network clone "
    "to cpu cuda float double half bfloat16 contiguous detach cast type".split()
)
# Where a layer is told how many outputs it has.
_WIDTH: Final = {
    "torch.nn.Linear": ("out_features", "1"),
    "torch.nn.LazyLinear": ("out_features", "0"),
    "torch.nn.Bilinear": ("out_features", "2"),
    "keras.layers.Dense": ("units", "0"),
    "flax.linen.Dense": ("features", "0"),
    "torch.nn.Conv1d": ("out_channels", "1"),
    "torch.nn.Conv2d": ("out_channels", "1"),
    "torch.nn.Conv3d": ("out_channels", "1"),
    "keras.layers.Conv1D": ("filters", "0"),
    "keras.layers.Conv2D": ("filters", "0"),
    "keras.layers.Conv3D": ("filters", "0"),
}


def layer_of(value: Value) -> Value | None:
    """The layer whose result, perhaps after an activation, a value is. Through nothing that changes the shape."""
    for _ in range(12):
        if value.op == "linear" or value.op == "conv":
            layer = value.inputs[-1] if value.inputs else None
            return layer if layer is not None and layer.kind == "module" else None
        if value.op == "module" and value.inputs and value.inputs[0].api in _WIDTH:
            return value.inputs[0]
        if value.op not in _KEEP_WIDTH or not value.inputs:
            return None
        value = value.inputs[0]
    return None


def width(value: Value) -> int | None:
    """How many outputs the last layer gives, where a literal says it."""
    layer = layer_of(value)
    if layer is None:
        return _width_by_hand(value)
    given = layer.option(*_WIDTH.get(layer.api, ()))
    return given.const if given is not None and type(given.const) is int else None


def _width_by_hand(value: Value, depth: int = 6) -> int | None:
    """Of `x @ W + b`, where W is a variable of a shape written out."""
    if depth == 0:
        return None
    if value.op == "matmul" and len(value.inputs) == 2:
        return _last_size(value.inputs[1])
    if value.op in _KEEP_WIDTH and value.inputs:
        return _width_by_hand(value.inputs[0], depth - 1)
    if value.op == "add" and len(value.inputs) == 2:
        return next((found for one in value.inputs if (found := _width_by_hand(one, depth - 1)) is not None), None)
    return None


def _last_size(weights: Value) -> int | None:
    """The last number of the shape a variable was made with: Variable(random_normal([64, 1])) gives 1."""
    if weights.op.startswith("api:") and weights.api.endswith(".Variable") and weights.inputs:
        weights = weights.inputs[0]
    shape = weights.option("shape", "size", "0")
    if shape is None or shape.kind != "sequence" or not shape.parts or not shape.exact or len(shape.parts) < 2:
        return None
    last = shape.parts[-1].const
    return last if type(last) is int else None


def dimension(softmax: Value) -> Value | None:
    """The dimension a softmax was told to go over, however it is written; None where it was not told."""
    layer = softmax.inputs[-1] if softmax.inputs else None
    if layer is not None and layer.kind == "module":
        return layer.option("dim", "axis", "0")
    given = softmax.option("dim", "axis")
    return given if given is not None or len(softmax.inputs) < 2 else softmax.inputs[1]


def over_units(softmax: Value) -> bool:
    """Does a softmax surely go over the dimension that the layer before it made?"""
    layer, over = layer_of(softmax), dimension(softmax)
    if layer is None or (over is not None and over.number() is None):
        return False
    if layer.api.startswith("torch.nn.Conv"):
        return over is not None and over.const == 1
    if over is None:
        # Keras and JAX take the last; torch guesses.
        return not layer.api.startswith("torch.")
    return bool(over.const == -1)


def without(activation: Value, title: str) -> Fix:
    """A fix that leaves an activation out, with its edit where that is a matter of one expression."""
    edit = _left_out(activation)
    return Fix(title, (edit,) if edit is not None else ())


def _left_out(activation: Value) -> Edit | None:
    file, node = activation.unit, activation.node
    if not isinstance(file, File) or not isinstance(node, ast.Call):
        return None
    layer = activation.inputs[-1] if activation.inputs and activation.inputs[-1].kind == "module" else None
    if layer is not None and layer.node is node:
        return _identity(file, node)
    if layer is None and not activation.api:
        kept = node.func.value if isinstance(node.func, ast.Attribute) else None
    else:
        kept = node.args[0] if node.args else None
    if kept is None or not isinstance(kept, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        return None
    return tell.replace(file, node, file.source(kept))


def _identity(file: File, layer: ast.Call) -> Edit | None:
    """A layer in a Sequential gives place to one that does nothing: the others keep their numbers in a checkpoint."""
    if not isinstance(layer.func, ast.Attribute) or not file.source(layer.func).startswith(("nn.", "torch.nn.")):
        return None
    return tell.replace(file, layer, f"{file.source(layer.func.value)}.Identity()")
