"""Hollow tensors: ordinary CPU tensors whose memory is never touched and whose numbers nobody knows.

Memory that is allocated and not touched costs nothing, so a hollow tensor is as large as the real one would be and yet
free. To torch it is a plain tensor: saving, copying, converting and swapping it need no special care. The mark sits on
the storage, which all views of a tensor share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from sleuth.dry.fake.room import the_room
from sleuth.frameworks import torch_private

_is_of_a_transform = torch_private.get("torch._C._functorch.is_functorch_wrapped_tensor")

_MARK = "sleuth_guess"
# The guess of a tensor whose numbers are known, and of one whose numbers may be anything.
KNOWN: Any = object()
ANYTHING = None
# Bytes that are as well taken from the heap.
_LITTLE = 1 << 16


def make(shape: Sequence[int], stride: Sequence[int], dtype: torch.dtype, guess: Any = ANYTHING) -> torch.Tensor:
    """A hollow tensor; `guess` is what each of its numbers is taken to be where one is asked for."""
    extent = 1
    for length, step in zip(shape, stride, strict=True):
        if length == 0:
            extent = 0
            break
        extent += (length - 1) * step
    storage = _storage(extent * dtype.itemsize)
    if storage is None:
        tensor = torch.empty_strided(shape, stride, dtype=dtype)
    else:
        tensor = torch.empty(0, dtype=dtype).set_(storage, 0, shape, stride)
    setattr(tensor.untyped_storage(), _MARK, guess)
    return tensor


def empty(shape: Sequence[int], dtype: torch.dtype, guess: Any = ANYTHING) -> torch.Tensor:
    """A contiguous one."""
    stride = []
    step = 1
    for length in reversed(shape):
        stride.append(step)
        step *= max(1, length)
    return make(shape, stride[::-1], dtype, guess)


def _storage(size: int) -> torch.UntypedStorage | None:
    room = the_room() if size > _LITTLE else None
    return None if room is None else room.storage(size)


def forget_numbers(tensor: torch.Tensor, guess: Any = ANYTHING) -> None:
    """From now on nobody knows the numbers of this tensor and its views."""
    if has_plain_memory(tensor):
        setattr(tensor.untyped_storage(), _MARK, guess)


def guess_of(tensor: torch.Tensor) -> Any:
    """KNOWN, ANYTHING, or the number that each element is taken to be."""
    return getattr(tensor.untyped_storage(), _MARK, KNOWN)


def is_hollow(tensor: torch.Tensor) -> bool:
    if _is_of_a_transform(tensor):
        return False
    return has_plain_memory(tensor) and hasattr(tensor.untyped_storage(), _MARK)


def is_hollow_storage(storage: torch.UntypedStorage) -> bool:
    return hasattr(storage, _MARK)


def storage_like(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    """A hollow storage of the same size."""
    copy = _storage(storage.nbytes()) or torch.UntypedStorage(storage.nbytes())
    setattr(copy, _MARK, getattr(storage, _MARK, ANYTHING))
    return copy


def is_whole(tensor: torch.Tensor) -> bool:
    """Is it all that its storage holds, rather than a part of something larger?"""
    return tensor.numel() * tensor.element_size() == tensor.untyped_storage().nbytes()


def has_plain_memory(tensor: torch.Tensor) -> bool:
    """Not a sparse, nested, quantised or meta tensor: those are left to torch."""
    return tensor.layout is torch.strided and not tensor.is_quantized and not tensor.is_nested and not tensor.is_meta
