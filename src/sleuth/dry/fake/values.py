"""Indices, labels and targets whose numbers are known are held against the sizes they must fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from sleuth.dry.fake import hollow
from sleuth.dry.fake.operations import Operation

# Larger ones are not looked through.
_MOST = 1 << 24


def check(operation: Operation, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise what the real kernel raises for numbers that do not fit."""
    look = _CHECKS.get(operation.name)
    if look is not None:
        look(func, args, kwargs)


def _is_known(tensor: Any) -> bool:
    return (
        isinstance(tensor, torch.Tensor)
        and hollow.guess_of(tensor) is hollow.KNOWN
        and 0 < tensor.numel() <= _MOST
        and not tensor.is_complex()
    )


def _outside(index: torch.Tensor, size: int, lowest: int = 0) -> bool:
    return int(index.min()) < lowest or int(index.max()) >= size


def _flat(shape: torch.Size | tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Zeros of any shape that take no room."""
    return torch.zeros((), dtype=dtype).expand(shape)


def _embedding(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    weight, indices = args[0], args[1]
    if weight.dim() != 2 or not _is_known(indices) or indices.is_floating_point():
        return
    if _outside(indices, weight.shape[0]):
        func(_flat((weight.shape[0], 1), weight.dtype), indices)


def _class_labels(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    scores, target, ignored = args[0], args[1], args[4]
    if not _is_known(target) or target.dtype not in (torch.int64, torch.uint8) or scores.dim() == 0:
        return
    classes = scores.shape[1] if scores.dim() > 1 else scores.shape[0]
    labels = target[target != ignored]
    wrong = labels[(labels < 0) | (labels >= classes)]
    if wrong.numel():
        torch.ops.aten.nll_loss_forward(torch.zeros(1, classes), wrong[:1].long(), None, args[3], ignored)


def _probabilities(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    given, target = args[0], args[1]
    if not _is_known(target) or target.shape != given.shape or target.dtype != given.dtype:
        return
    if target.min() < 0 or target.max() > 1:
        func(torch.full_like(target, 0.5), target)


def _along_dim(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    tensor, dim, index = args[0], args[1], args[2]
    if not _is_known(index) or index.dtype not in (torch.int64, torch.int32) or not tensor.dim():
        return
    if _outside(index, tensor.shape[dim]):
        others = [_flat(one.shape, one.dtype) if isinstance(one, torch.Tensor) else one for one in args[3:]]
        func(torch.empty(tensor.shape, dtype=tensor.dtype), dim, index, *others, **kwargs)


def _positions(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    tensor, indices = args[0], args[1]
    used = [(dim, one) for dim, one in enumerate(indices) if one is not None]
    if any(one.dtype in (torch.bool, torch.uint8) for _, one in used):
        return
    for dim, index in used:
        if _is_known(index) and dim < tensor.dim() and _outside(index, tensor.shape[dim], -tensor.shape[dim]):
            only = [index if other == dim else None for other in range(len(indices))]
            shape = tuple(size if other == dim else 1 for other, size in enumerate(tensor.shape))
            torch.ops.aten.index.Tensor(_flat(shape, tensor.dtype), only)


def _take(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    tensor, index = args[0], args[1]
    if _is_known(index) and _outside(index, tensor.numel(), -tensor.numel()):
        func(_flat(tensor.shape, tensor.dtype), index)


_CHECKS: dict[str, Callable[[Any, tuple[Any, ...], dict[str, Any]], None]] = {
    "embedding": _embedding,
    "nll_loss_forward": _class_labels,
    "nll_loss2d_forward": _class_labels,
    "binary_cross_entropy": _probabilities,
    "index": _positions,
    "index_put": _positions,
    "index_put_": _positions,
    "_index_put_impl_": _positions,
    "_unsafe_index": _positions,
    "take": _take,
    **dict.fromkeys(
        """index_select gather scatter scatter_ scatter_add scatter_add_ index_add index_add_ index_copy index_copy_
        index_fill index_fill_ scatter_reduce scatter_reduce_""".split(),
        _along_dim,
    ),
}
