"""Which numbers an input may hold: ids below the size of the table that they look up, a mask's 0 and 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import fx

from sleuth.compare.reference import Reference, op_of
from sleuth.compare.side import Side
from sleuth.compare.values import Batch

# What hands integers on as they are.
_HANDED_ON = {
    "view", "reshape", "to", "_to_copy", "clone", "contiguous", "alias", "detach", "flatten", "squeeze", "unsqueeze",
    "expand", "transpose", "permute", "slice", "select", "long", "int", "repeat", "unflatten", "t", "movedim", "unbind",
    "chunk", "split", "getitem", "flip", "cat", "stack", "narrow", "type_as", "_unsafe_view", "where", "clamp",
}  # fmt: skip
# The operation that looks ids up: the argument that holds the table, and the one that holds the ids.
_LOOKED_UP = {"embedding": ("weight", "indices"), "index_select": ("self", "index"), "index": ("self", "indices")}
_FAR = 40


@dataclass(frozen=True, slots=True)
class Limit:
    """The least and the greatest number, both allowed; `kind` says what the numbers are."""

    least: float
    most: float
    kind: str = "ids"


def limits_of(side: Side, batch: Batch) -> dict[str, Limit]:
    """By the names of the side's inputs; an input that is not there may hold anything of its type."""
    found: dict[str, Limit] = {}
    graph = side.reference(batch)
    sizes = _tables(graph) if graph is not None else {}
    for place, (one, array) in enumerate(zip(side.inputs, batch, strict=False)):
        if array.dtype.kind == "b" or (array.dtype.kind in "iu" and _is_mask(one.name)):
            found[one.name] = Limit(0, 1, "mask")
        elif array.dtype == np.uint8:
            found[one.name] = Limit(0, 255, "bytes")
        elif array.dtype.kind in "iu":
            size = sizes.get(place)
            most = size - 1 if size is not None else max(int(array.max(initial=0)), 1)
            found[one.name] = Limit(0, max(most, 0), "ids" if size is not None else "whole numbers")
    return found


def together(one: Mapping[str, Limit], other: Mapping[str, Limit]) -> dict[str, Limit]:
    """What both allow."""
    both = dict(one)
    for name, limit in other.items():
        if name in both and limit.kind == both[name].kind:
            both[name] = Limit(max(limit.least, both[name].least), min(limit.most, both[name].most), limit.kind)
    return both


def _is_mask(name: str) -> bool:
    return "mask" in name.lower()


def _tables(reference: Reference) -> dict[int, int]:
    """By the place of an input: how many rows the smallest table has that it looks up."""
    inputs = [node for node in reference.graph.graph.nodes if node.op == "placeholder"]
    sizes = {place: _smallest(reference, node, 0, _FAR) for place, node in enumerate(inputs)}
    return {place: size for place, size in sizes.items() if size is not None}


def _smallest(reference: Reference, ids: fx.Node, added: int, far: int) -> int | None:
    """Along all ways from this node; `added` is what was added to the ids on the way."""
    found: list[int] = []
    for user in ids.users if far else ():
        word = op_of(user)
        if word in _HANDED_ON:
            size = _smallest(reference, user, added, far - 1)
        elif word == "add" and len(user.args) == 2 and isinstance(user.args[1], int):
            size = _smallest(reference, user, added + user.args[1], far - 1)
        else:
            size = _rows(reference, user, ids)
            size = None if size is None else size - added
        if size is not None and size > 0:  # ids + rows, where they are negative, is the other end of the same table
            found.append(size)
    return min(found, default=None)


def _rows(reference: Reference, user: fx.Node, ids: fx.Node) -> int | None:
    word = op_of(user)
    if word == "one_hot" and len(user.args) > 1 and isinstance(user.args[1], int) and user.args[1] > 0:
        return user.args[1]
    if word not in _LOOKED_UP or not isinstance(user.target, torch._ops.OpOverload):
        return None
    names = [argument.name for argument in user.target._schema.arguments]
    arguments = {**dict(zip(names, user.args, strict=False)), **user.kwargs}
    table, index = (arguments.get(name) for name in _LOOKED_UP[word])
    axis = arguments.get("dim", 0) if word == "index_select" else 0
    if word == "index" and isinstance(index, list | tuple):
        axis = next((place for place, one in enumerate(index) if one is ids), None)
        index = ids if axis is not None else None
    shape = _shape(reference, table)
    return (
        int(shape[axis]) if index is ids and shape is not None and isinstance(axis, int) and axis < len(shape) else None
    )


def _shape(reference: Reference, table: Any) -> tuple[int, ...] | None:
    if not isinstance(table, fx.Node):
        return None
    if table.op == "get_attr":
        return tuple(reference.weight(str(table.target), torch.float32).shape)
    shape = getattr(table.meta.get("val"), "shape", None)
    return tuple(int(size) for size in shape) if shape is not None else None
