"""Values taken from, and put into, given places."""

from __future__ import annotations

from typing import Any

import torch

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.operations import Step, operation


def from_start(b: Builder, places: Traced, size: int) -> Traced:
    """Places counted from the end as PyTorch's gather wants them."""
    places = b.call(aten.to.dtype, places, torch.int64) if places.dtype != torch.int64 else places
    if bool((places.example >= 0).all()):
        return places
    return b.call(aten.remainder.Scalar, places, size)


@operation("Gather")
def _gather(b: Builder, s: Step) -> Traced:
    value, places = s.inputs
    axis = s.get("axis", 0) % value.rank
    if places.constant and places.rank == 0:
        return b.call(aten.select.int, value, axis, int(places.example) % value.shape[axis])
    places = from_start(b, places, value.shape[axis])
    if axis == 0 and value.rank == 2 and value.floating and value.constant and not places.constant:
        return b.call(aten.embedding.default, value, places)
    if places.rank == 1:
        return b.call(aten.index_select.default, value, axis, places)
    return b.call(aten.index.Tensor, value, [*[None] * axis, places])


@operation("GatherElements")
def _gather_elements(b: Builder, s: Step) -> Traced:
    value, places = s.inputs
    axis = s.get("axis", 0) % value.rank
    return b.call(aten.gather.default, value, axis, from_start(b, places, value.shape[axis]))


@operation("GatherND")
def _gather_nd(b: Builder, s: Step) -> Traced:
    value, places = s.inputs
    alike = s.get("batch_dims", 0)
    columns = _columns(b, places, value.shape[alike:])
    batch: list[Any] = []
    for axis in range(alike):
        shape = [1] * (places.rank - 1)
        shape[axis] = value.shape[axis]
        batch.append(b.constant(torch.arange(value.shape[axis]).reshape(shape)))
    return b.call(aten.index.Tensor, value, [*batch, *columns])


def _columns(b: Builder, places: Traced, sizes: tuple[int, ...]) -> list[Traced]:
    several = [b.call(aten.select.int, places, -1, column) for column in range(places.shape[-1])]
    return [from_start(b, column, size) for column, size in zip(several, sizes, strict=False)]


_REDUCES = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


@operation("ScatterElements", "Scatter")
def _scatter_elements(b: Builder, s: Step) -> Traced:
    value, places, updates = s.inputs
    axis = s.get("axis", 0) % value.rank
    places = from_start(b, places, value.shape[axis])
    how = s.get("reduction", "none")
    if how == "none":
        return b.call(aten.scatter.src, value, axis, places, updates)
    return b.call(aten.scatter_reduce.two, value, axis, places, updates, _REDUCES[how], include_self=True)


@operation("ScatterND")
def _scatter_nd(b: Builder, s: Step) -> Traced:
    value, places, updates = s.inputs
    how = s.get("reduction", "none")
    columns = _columns(b, places, value.shape)
    if how in ("none", "add"):
        return b.call(aten.index_put.default, value, columns, updates, how == "add")
    row = columns[0]
    for column, size in zip(columns[1:], value.shape[1:], strict=False):
        row = b.call(aten.add.Tensor, b.call(aten.mul.Tensor, row, size), column)
    depth = len(columns)
    rows = value.example[(0,) * depth].numel()
    table = b.call(aten.reshape.default, value, [-1, rows])
    flat = b.call(aten.reshape.default, updates, [-1, rows])
    lines = b.call(aten.expand.default, b.call(aten.reshape.default, row, [-1, 1]), [-1, rows])
    result = b.call(aten.scatter_reduce.two, table, 0, lines, flat, _REDUCES[how], include_self=True)
    return b.call(aten.reshape.default, result, list(value.shape))


@operation("NonZero")
def _non_zero(b: Builder, s: Step) -> Traced:
    b.batch_bound.append("NonZero's size depends on the numbers")
    return b.call(aten.t.default, b.call(aten.nonzero.default, s.inputs[0]))


@operation("Compress")
def _compress(b: Builder, s: Step) -> Traced:
    value = s.inputs[0]
    kept = [place for place, keep in enumerate(s.known(1).reshape(-1)) if keep]
    if s.get("axis") is None:
        return b.call(aten.index_select.default, b.call(aten.flatten.using_ints, value), 0, b.ints(kept))
    return b.call(aten.index_select.default, value, s.get("axis"), b.ints(kept))


@operation("Unique")
def _unique(b: Builder, s: Step) -> list[Traced]:
    """What is known only from the numbers: settled on the batch."""
    import numpy as np

    axis = s.get("axis")
    array = s.known(0).numpy()
    found, first, back, counts = np.unique(array, True, True, True, axis=axis)
    if not s.get("sorted", 1):
        order = np.argsort(first)
        found = np.take(found, order, axis=axis or 0)
        first, counts, back = first[order], counts[order], np.argsort(order)[back]
    return [b.constant(torch.from_numpy(np.array(one))) for one in (found, first, back.reshape(-1), counts)]


@operation("TensorScatter")
def _tensor_scatter(b: Builder, s: Step) -> Traced:
    past, update = s.inputs[0], s.inputs[1]
    axis = s.get("axis", -2) % past.rank
    starts = s.ints(2) if s.has(2) else [0] * past.shape[0]
    places = torch.tensor(starts)[:, None] + torch.arange(update.shape[axis])
    places = places % past.shape[axis] if s.get("mode", "linear") == "circular" else places
    shape = [1] * past.rank
    shape[0], shape[axis] = len(starts), update.shape[axis]
    return b.call(
        aten.scatter.src, past, axis, b.constant(places.reshape(shape).expand(update.shape).contiguous()), update
    )
