"""How tensors and layers are called when a crash is told."""

from __future__ import annotations

from functools import cache
from typing import Any

from sleuth.dry.births import Birth

_SIZES = {"int64": "whole numbers (int64)", "int32": "whole numbers (int32)", "bool": "truth values (bool)"}
_LOADED = {"DataLoader", "collate", "default_collate"}
_PLAIN_OPERATIONS = {"add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "matmul", "rmatmul", "pow"}
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "matmul": "@", "pow": "**"}


def shape(sizes: tuple[int, ...]) -> str:
    """As Python prints it: `(64, 3)`, `(64,)`, `()`."""
    return str(tuple(int(size) for size in sizes))


def product(sizes: tuple[int, ...]) -> str:
    return " × ".join(str(size) for size in sizes)


def operation(name: str) -> str:
    """`add` as the sign a person would write; `setitem_` as an assignment."""
    plain = name.rstrip("_").removeprefix("i" if name.endswith("_") and name[1:-1] in _SIGNS else "")
    if name == "setitem_":
        return "an assignment"
    if name == "getitem":
        return "an index"
    sign = _SIGNS.get(plain.removeprefix("r") if plain in _PLAIN_OPERATIONS else plain)
    return f"`{sign}{'=' if name.endswith('_') else ''}`" if sign else f"{name}()"


def maker(birth: Birth) -> str:
    """Who made the tensor: a layer by its name, the data loader, or an operation."""
    if birth.operation in _LOADED:
        return "the DataLoader"
    if birth.layer and is_of_torch(birth.layer):
        return layer(birth.layer)
    inside = f" in {layer(birth.layer)}" if birth.layer else ""
    return f"{operation(birth.operation)}{inside}"


@cache
def is_of_torch(layer: str) -> bool:
    """Is `conv1 (Conv2d)` a layer that torch brings, so that its one operation needs no name?"""
    from torch import nn

    return hasattr(nn, class_of(layer))


def class_of(layer: str) -> str:
    return layer.rpartition("(")[2].rstrip(")").strip()


def called(module: Any, name: str) -> str:
    """`conv1 (Conv2d)`; only the class where it has no name."""
    return layer(f"{name} ({type(module).__name__})" if name else type(module).__name__)


def layer(text: str) -> str:
    """`2 (Linear)` is no name for a person: `layer 2 (Linear)`."""
    return f"layer {text}" if text[:1].isdigit() else text


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def of_type(dtype: str) -> str:
    return _SIZES.get(dtype, dtype)
