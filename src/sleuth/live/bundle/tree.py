"""Nested values as JSON: batches, random states and optimiser states, with tensors by their number in the bundle.

Lists, tuples, dictionaries and plain values are written as they are. An object is written as its attributes, and put
together again from one that the program itself has made: its class never comes from the bundle."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable
from typing import Any

_DEEPEST = 32
_MOST_PLAIN_ITEMS = 1_000_000
_KINDS = {"tensor", "array", "float", "list", "tuple", "dict", "object", "missing"}


class Planter:
    """Turns values into trees. `store` keeps a tensor and gives its number, None for one that cannot be kept."""

    def __init__(self, store: Callable[[Any], int | None]) -> None:
        self._store = store
        self.missing: list[str] = []
        # What is being planted: an object may hold itself.
        self._inside: set[int] = set()

    def plant(self, value: Any, name: str, depth: int = 0) -> Any:
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if depth < _DEEPEST and id(value) not in self._inside:
            self._inside.add(id(value))
            planted = self._numbers(value) or self._parts(value, name, depth + 1)
            self._inside.discard(id(value))
            if planted is not None:
                return planted
        self.missing.append(f"{name}: {_class_of(value)}")
        return {"missing": _class_of(value)}

    def _numbers(self, value: Any) -> dict[str, Any] | None:
        torch, numpy = sys.modules["torch"], sys.modules.get("numpy")
        if isinstance(value, torch.Tensor):
            index = self._store(value)
            return None if index is None else {"tensor": index}
        if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic) and value.dtype.kind in "biufc":
            native = numpy.array(value, dtype=value.dtype.newbyteorder("="))
            index = self._store(torch.from_numpy(native))
            return None if index is None else {"array": index, "scalar": isinstance(value, numpy.generic)}
        return None

    def _parts(self, value: Any, name: str, depth: int) -> dict[str, Any] | None:
        if isinstance(value, dict):
            items = list(value.items())
            return {"dict": [[self.plant(k, name, depth), self.plant(v, f"{name}[{k!r}]", depth)] for k, v in items]}
        if isinstance(value, list | tuple):
            if len(value) > _MOST_PLAIN_ITEMS:
                return None
            parts = [self.plant(item, f"{name}[{index}]", depth) for index, item in enumerate(value)]
            return {"tuple" if isinstance(value, tuple) else "list": parts}
        attributes = getattr(value, "__dict__", None)
        if isinstance(attributes, dict) and attributes and not callable(value) and not isinstance(value, type):
            parts = [[key, self.plant(item, f"{name}.{key}", depth)] for key, item in list(attributes.items())]
            return {"object": _class_of(value), "has": parts}
        return None


def _class_of(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def is_sound(node: Any, is_tensor: Callable[[Any], bool], depth: int = 0) -> bool:
    """Is this what `plant` writes, all tensors in it known?"""
    if node is None or isinstance(node, bool | int | str) or (isinstance(node, float) and math.isfinite(node)):
        return True
    kinds = [key for key in node if key in _KINDS] if isinstance(node, dict) else []
    if len(kinds) != 1 or depth > 2 * _DEEPEST:
        return False
    kind, held = kinds[0], node[kinds[0]]

    def sound(part: Any) -> bool:
        return is_sound(part, is_tensor, depth + 1)

    if kind in ("tensor", "array"):
        return is_tensor(held)
    if kind in ("list", "tuple"):
        return isinstance(held, list) and all(sound(part) for part in held)
    if kind == "float":
        return held in ("nan", "inf", "-inf")
    if kind == "missing":
        return isinstance(held, str)
    pairs = held if kind == "dict" else node.get("has")
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        return False
    named = kind == "dict" or (isinstance(held, str) and all(isinstance(name, str) for name, _ in pairs))
    return named and all(sound(name) and sound(part) for name, part in pairs)


def grow(node: Any, tensor: Callable[[int], Any], like: Any = None) -> Any:
    """The value again. `like` is one of the same kind that the program made: it lends classes, and what is missing."""
    if not isinstance(node, dict):
        return node
    if "tensor" in node:
        return _like_tensor(tensor(node["tensor"]), like)
    if "array" in node:
        array = tensor(node["array"]).numpy()
        return array[()] if node.get("scalar") else array
    if "float" in node:
        return float(node["float"])
    if "missing" in node:
        return like
    if "dict" in node:
        return _dict(node["dict"], tensor, like)
    if "object" in node:
        return _object(node["has"], tensor, like)
    parts = node["tuple"] if "tuple" in node else node["list"]
    lent = like if isinstance(like, list | tuple) and len(like) == len(parts) else [None] * len(parts)
    grown = [grow(part, tensor, model) for part, model in zip(parts, lent, strict=True)]
    if "list" in node:
        return grown
    return type(like)(*grown) if hasattr(like, "_fields") and lent is like else tuple(grown)


def _like_tensor(value: Any, like: Any) -> Any:
    torch = sys.modules["torch"]
    if not isinstance(like, torch.Tensor):
        return value
    moved = value.to(like.device)
    return moved if type(like) is torch.Tensor else moved.as_subclass(type(like))


def _dict(pairs: list[Any], tensor: Callable[[int], Any], like: Any) -> Any:
    lent = like if isinstance(like, dict) else {}
    grown = {}
    for planted_key, part in pairs:
        key = grow(planted_key, tensor)
        grown[key] = grow(part, tensor, lent.get(key))
    if type(like) in (dict, type(None)) or not isinstance(like, dict):
        return grown
    same_class = copy.copy(like)
    same_class.clear()
    same_class.update(grown)
    return same_class


def _object(pairs: list[Any], tensor: Callable[[int], Any], like: Any) -> Any:
    if not hasattr(like, "__dict__"):
        return like
    grown = copy.copy(like)
    for name, part in pairs:
        # Straight into its dictionary: a property of the program's class must not run on the bundle's say-so.
        grown.__dict__[name] = grow(part, tensor, like.__dict__.get(name))
    return grown
