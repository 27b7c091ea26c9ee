"""Which values of a TensorFlow graph are worth comparing: what the inputs reach, a layer's pieces taken as one."""

from __future__ import annotations

import re
from typing import Any

from sleuth.compare.sides import savedmodel_words as words
from sleuth.compare.sides.pieces import Kind, Step, wholes
from sleuth.compare.values import Value

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(words.PRODUCTS, "product"),
    **dict.fromkeys(words.CONVOLUTIONS, "convolution"),
    **dict.fromkeys(("Add", "AddV2", "BiasAdd"), "add"),
    **dict.fromkeys(("Rsqrt", "Sqrt"), "root"),
    **dict.fromkeys(("Reshape", "Squeeze", "ExpandDims"), "shape"),
    **dict.fromkeys(("Identity", "IdentityN", "StopGradient", "NoOp", "Shape", "PlaceholderWithDefault"), "idle"),
    "Mean": "mean",
    "Placeholder": "input",
}
# Scopes that TensorFlow's own functions open within a layer's.
_INNER = frozenset({"moments", "batchnorm", "einsum", "convolution", "Tensordot"})
# Functions of tf.nn that are written out, each in a scope of its own.
_WHOLE = {"Gelu": "gelu"}
_NUMBER = re.compile(r"_\d+$")
_CALLS = ("StatefulPartitionedCall", "PartitionedCall", "Func")


def worth_comparing(operations: list[Any]) -> list[tuple[Value, Any]]:
    """Values with their tensors, in the graph's order."""
    steps = [_step(operation) for operation in operations]
    found = wholes(steps)
    result = []
    for step, operation in zip(steps, operations, strict=True):
        for position, tensor in enumerate(operation.outputs if found.is_compared(step) else ()):
            if tensor.dtype.is_floating:
                name = step.name if not position else f"{step.name}:{position}"
                result.append((Value(name, found.word(step), ".".join(step.scope)), tensor))
    return result


def _step(operation: Any) -> Step:
    parts = [part for part in operation.name.split("/")[:-1] if not part.startswith(_CALLS)]
    scope = tuple(part for part in parts if _NUMBER.sub("", part) not in _INNER)
    parents = tuple(one.op.name for one in operation.inputs)
    whole = _WHOLE.get(_NUMBER.sub("", scope[-1]), "") if scope else ""
    return Step(operation.name, _KINDS.get(operation.type, "other"), words.of(operation.type), parents, scope, whole)
