"""The shape a value surely has, where literals tell it. None is: not known; None inside is a size not known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sleuth.source.values import Value

Shape = tuple[int | None, ...]


def of_result(operation: str, operands: Sequence[Value], options: Mapping[str, Value]) -> Shape | None:
    """The shape an operation's result has."""
    return None


def of_layer(layer: Value, operands: Sequence[Value]) -> Shape | None:
    """The shape a layer gives for what it was given."""
    return None
