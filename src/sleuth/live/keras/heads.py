"""What made a model's output, read from the graph that torch keeps for its derivative."""

from __future__ import annotations

from typing import Any

# They pass the numbers on as they are.
_VIEWS = ("View", "ReshapeAlias", "UnsafeView", "Squeeze", "Unsqueeze", "ToCopy", "Clone", "Transpose", "Permute",
          "Alias", "T", "Expand", "Contiguous")  # fmt: skip
_NAMES = {
    "Softmax": "softmax",
    "LogSoftmax": "log_softmax",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "Relu": "relu",
    "Addmm": "linear",
    "Mm": "linear",
    "Add": "linear",
    "Convolution": "linear",
}


def made_by(output: Any) -> tuple[str, int | None]:
    """The last operation, views left out, and the axis of a softmax."""
    node = getattr(output, "grad_fn", None)
    while node is not None and _kind(node) in _VIEWS and node.next_functions:
        node = node.next_functions[0][0]
    if node is None:
        return "", None
    kind = _kind(node)
    axis = getattr(node, "_saved_dim", None) if kind in ("Softmax", "LogSoftmax") else None
    if isinstance(axis, int) and axis >= 1 << 63:
        axis -= 1 << 64
    return _NAMES.get(kind, ""), axis


def _kind(node: Any) -> str:
    return str(node.name()).partition("Backward")[0]
