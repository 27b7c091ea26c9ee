"""Operations whose results' sizes depend on numbers, and those that give numbers to Python: answered here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from sleuth.dry.fake import guesses, hollow, oracle
from sleuth.program import users_place

if TYPE_CHECKING:
    from sleuth.dry.fake.numbers import Numbers
    from sleuth.dry.stage import Stage

NONE: Any = object()
Answer = Callable[["Numbers", Any, tuple[Any, ...], dict[str, Any]], Any]

# Their results are never larger than what they are given, however large that is.
KEEP_REAL_WHILE_KNOWN = frozenset(
    "nonzero masked_select _unique2 unique_dim unique_consecutive _local_scalar_dense equal bincount".split()
)


def _kept(stage: Stage, of: int, what: str) -> int:
    """How many of `of` elements there will be after a choice that nobody can make."""
    full = guesses.masks_are_full(stage)
    stage.journal.assume(users_place(sys._getframe(1)), f"{what} assumed to keep {'all' if full else 'no'} elements")
    return of if full else 0


def _scalar(numbers: Numbers, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return oracle.scalar(numbers.stage, args[0], sys._getframe(1))


def _truth(numbers: Numbers, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    if func.__name__.startswith("equal") and args[0].shape != args[1].shape:
        return False
    return oracle.truth(numbers.stage, sys._getframe(1), hollow.ANYTHING)


def _nothing(numbers: Numbers, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    return None


def _nonzero(numbers: Numbers, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor:
    mask = args[0]
    return hollow.empty((_kept(numbers.stage, mask.numel(), "nonzero()"), mask.dim()), torch.int64)


def _masked_select(numbers: Numbers, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor:
    tensor, mask = args[0], args[1]
    shape = torch.broadcast_shapes(tensor.shape, mask.shape)
    if hollow.guess_of(mask) is hollow.KNOWN:
        count = int(mask.expand(shape).sum())
    else:
        count = _kept(numbers.stage, shape.numel(), "masked_select()")
    return hollow.empty((count,), tensor.dtype)


def _unique(numbers: Numbers, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[torch.Tensor, ...]:
    tensor = args[0]
    count = _kept(numbers.stage, tensor.numel(), "unique()")
    whole = torch.int64
    return hollow.empty((count,), tensor.dtype), hollow.empty(tensor.shape, whole), hollow.empty((count,), whole)


def _unique_dim(numbers: Numbers, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[torch.Tensor, ...]:
    tensor, dim = args[0], args[1]
    count = _kept(numbers.stage, tensor.shape[dim], "unique()")
    shape = list(tensor.shape)
    shape[dim] = count
    places = hollow.empty((tensor.shape[dim],), torch.int64)
    return hollow.empty(shape, tensor.dtype), places, hollow.empty((count,), torch.int64)


def _bincount(numbers: Numbers, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor:
    weights = args[1] if len(args) > 1 else kwargs.get("weights")
    smallest = args[2] if len(args) > 2 else kwargs.get("minlength", 0)
    return hollow.empty((max(1, smallest),), torch.int64 if weights is None else torch.float64)


def _repeats(numbers: Numbers, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not func.__name__.endswith(".Tensor"):
        return NONE
    count = kwargs.get("output_size") or args[0].numel()
    return hollow.empty((count,), torch.int64)


def _index(numbers: Numbers, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`x[mask]` and `x[mask] = ...`, with the mask as the positions that it keeps."""
    tensor, indices, *others = args
    if not any(one is not None and one.dtype in (torch.bool, torch.uint8) for one in indices):
        return NONE
    value = others[0] if others and isinstance(others[0], torch.Tensor) else None
    plain: list[Any] = []
    for one in indices:
        if one is None or one.dtype not in (torch.bool, torch.uint8):
            plain.append(one)
            continue
        _check_mask(tensor, one, len(plain))
        plain += _positions(numbers.stage, one, value)
    return numbers.perform(func, (tensor, plain, *others), kwargs)


def _check_mask(tensor: torch.Tensor, mask: torch.Tensor, at: int) -> None:
    for dim in range(mask.dim()):
        if at + dim >= tensor.dim():
            raise IndexError(f"too many indices for tensor of dimension {tensor.dim()}")
        if mask.shape[dim] != tensor.shape[at + dim]:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {dim} does not match the shape of the indexed "
                f"tensor {list(tensor.shape)} at index {at + dim}"
            )


def _positions(stage: Stage, mask: torch.Tensor, value: torch.Tensor | None) -> list[torch.Tensor]:
    if hollow.guess_of(mask) is hollow.KNOWN:
        return list(mask.nonzero().unbind(1))
    count = _kept(stage, mask.numel(), "[mask]")
    if value is not None and value.dim() and value.shape[0] not in (1, count):
        # As many as are put there; whoever made them knew how many they would be.
        count = value.shape[0]
    return [hollow.empty((count,), torch.int64) for _ in range(mask.dim())]


def _pack(numbers: Numbers, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Real lengths, and as little of the rest as will do."""
    tensor, lengths, batch_first = args
    if hollow.guess_of(lengths) is not hollow.KNOWN:
        lengths = torch.full_like(lengths, tensor.shape[1 if batch_first else 0])
    packed, batch_sizes = func(torch.zeros(tensor.shape[:2]).unsqueeze(-1), lengths, batch_first)
    return hollow.empty((packed.shape[0], *tensor.shape[2:]), tensor.dtype), batch_sizes


def _pad(numbers: Numbers, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    data, batch_sizes, batch_first, padding, total = args
    padded, lengths = func(torch.zeros(data.shape[0], 1), batch_sizes, batch_first, padding, total)
    return hollow.empty((*padded.shape[:2], *data.shape[1:]), data.dtype), lengths


TABLE: dict[str, Answer] = {
    "_local_scalar_dense": _scalar,
    "equal": _truth,
    "allclose": _truth,
    "is_nonzero": _truth,
    "nonzero": _nonzero,
    "masked_select": _masked_select,
    "_unique2": _unique,
    "_unique": _unique,
    "unique_consecutive": _unique,
    "unique_dim": _unique_dim,
    "unique_dim_consecutive": _unique_dim,
    "bincount": _bincount,
    "repeat_interleave": _repeats,
    "_pack_padded_sequence": _pack,
    "_pad_packed_sequence": _pad,
    # Gradients are taken to be finite.
    "_amp_foreach_non_finite_check_and_unscale_": _nothing,
    **dict.fromkeys("_assert_async _functional_assert_async _linalg_check_errors _assert_scalar".split(), _nothing),
    **dict.fromkeys("index index_put index_put_ _index_put_impl_ _unsafe_index _unsafe_index_put".split(), _index),
}
