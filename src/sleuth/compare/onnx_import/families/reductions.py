"""Sums, means and extremes along axes."""

from __future__ import annotations

from typing import Any

import torch

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.operations import TRANSLATIONS, Step, operation


def _sum(b: Builder, value: Traced, axes: list[int], keep: bool) -> Traced:
    return b.call(aten.sum.dim_IntList, value, axes, keep, dtype=value.dtype)


def _mean(b: Builder, value: Traced, axes: list[int], keep: bool) -> Traced:
    if value.floating:
        return b.call(aten.mean.dim, value, axes, keep)
    wide = b.call(aten.mean.dim, b.call(aten.to.dtype, value, b.real), axes, keep)
    return b.call(aten.to.dtype, wide, value.dtype)


def _extreme(target: Any, of_none: float) -> Any:
    def reduce(b: Builder, value: Traced, axes: list[int], keep: bool) -> Traced:
        if all(value.shape[axis] for axis in axes):
            return b.call(target, value, axes, keep)
        kept = [1 if axis in axes else size for axis, size in enumerate(value.shape)]
        shape = kept if keep else [size for axis, size in enumerate(value.shape) if axis not in axes]
        return b.call(aten.full.default, shape, _end(value.dtype, of_none > 0), dtype=value.dtype)

    return reduce


def _end(dtype: torch.dtype, upper: bool) -> float:
    """The largest or the smallest number of a type."""
    if dtype == torch.bool:
        return upper
    if dtype.is_floating_point:
        return float("inf") if upper else float("-inf")
    return torch.iinfo(dtype).max if upper else torch.iinfo(dtype).min


def _prod(b: Builder, value: Traced, axes: list[int], keep: bool) -> Traced:
    for axis in sorted(axes, reverse=True):
        value = b.call(aten.prod.dim_int, value, axis, keep, dtype=value.dtype)
    return value


def _l1(b: Builder, value: Traced, axes: list[int], keep: bool) -> Traced:
    return _sum(b, b.call(aten.abs.default, value), axes, keep)


def _sum_of_squares(b: Builder, value: Traced, axes: list[int], keep: bool) -> Traced:
    return _sum(b, b.call(aten.mul.Tensor, value, value), axes, keep)


def _l2(b: Builder, value: Traced, axes: list[int], keep: bool) -> Traced:
    if value.floating:
        return b.call(aten.linalg_vector_norm.default, value, 2, axes, keep)
    root = b.call(aten.sqrt.default, b.call(aten.to.dtype, _sum_of_squares(b, value, axes, keep), b.real))
    return b.call(aten.to.dtype, root, value.dtype)


def _log_sum(b: Builder, value: Traced, axes: list[int], keep: bool) -> Traced:
    return b.call(aten.log.default, _sum(b, value, axes, keep))


def _log_sum_exp(b: Builder, value: Traced, axes: list[int], keep: bool) -> Traced:
    return b.call(aten.logsumexp.default, value, axes, keep)


_REDUCTIONS = {
    "ReduceL1": _l1,
    "ReduceL2": _l2,
    "ReduceLogSum": _log_sum,
    "ReduceLogSumExp": _log_sum_exp,
    "ReduceMax": _extreme(aten.amax.default, float("-inf")),
    "ReduceMean": _mean,
    "ReduceMin": _extreme(aten.amin.default, float("inf")),
    "ReduceProd": _prod,
    "ReduceSum": _sum,
    "ReduceSumSquare": _sum_of_squares,
}


def _over_axes(reduce: Any) -> Any:
    def translate(b: Builder, s: Step) -> Traced:
        value = s.inputs[0]
        axes = s.axes(1)
        if not axes:
            if s.get("noop_with_empty_axes", 0):
                return _of_each(b, s, reduce)
            axes = list(range(value.rank))
        axes = sorted(axis % max(value.rank, 1) for axis in axes)
        if not axes:
            return _of_each(b, s, reduce)
        result: Traced = reduce(b, value, axes, bool(s.get("keepdims", 1)))
        return result

    return translate


def _of_each(b: Builder, s: Step, reduce: Any) -> Traced:
    """Over no axis at all: what is done to every number alone still is."""
    value: Traced = s.inputs[0]
    if s.op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceLogSumExp"):
        return value
    lone = b.call(aten.unsqueeze.default, value, -1)
    result: Traced = reduce(b, lone, [value.rank], False)
    return result


TRANSLATIONS.update({name: _over_axes(reduce) for name, reduce in _REDUCTIONS.items()})


@operation("ArgMax", "ArgMin")
def _arg(b: Builder, s: Step) -> Traced:
    value, axis, keep = s.inputs[0], s.get("axis", 0), bool(s.get("keepdims", 1))
    target = aten.argmax.default if s.op == "ArgMax" else aten.argmin.default
    if not s.get("select_last_index", 0):
        return b.call(target, value, axis, keep)
    place = b.call(target, b.call(aten.flip.default, value, [axis]), axis, keep)
    return b.call(aten.rsub.Scalar, place, value.shape[axis] - 1)


@operation("TopK")
def _top_k(b: Builder, s: Step) -> list[Traced]:
    """Sorted, because ONNX says which of equals comes first, and PyTorch's `topk` does not."""
    count = s.ints(1)[0] if s.has(1) else s.get("k")
    axis = s.get("axis", -1)
    both = b.call(aten.sort.stable, s.inputs[0], stable=True, dim=axis, descending=bool(s.get("largest", 1)))
    return [b.call(aten.slice.Tensor, b.item(both, place), axis, 0, count) for place in range(2)]
