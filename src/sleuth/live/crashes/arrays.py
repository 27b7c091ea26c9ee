"""Tensors and arrays of any library in words: shape, type, device, and how far their values go."""

from __future__ import annotations

from collections import Counter
from typing import Any

_LIBRARIES = {"torch", "numpy", "jax", "jaxlib", "tensorflow", "keras"}
# More values than these are not read for a line of a report.
_MOST_READ = 20_000_000
# A list longer than this holds a data set rather than a batch.
_MOST_PARTS = 1024
_SHAPES_SHOWN = 4


def is_array(value: Any) -> bool:
    kind = type(value)
    if kind.__module__.partition(".")[0] not in _LIBRARIES and not _is_tensor(value):
        return False
    return not isinstance(value, type) and hasattr(kind, "shape") and hasattr(kind, "dtype") and hasattr(kind, "ndim")


def are_arrays(value: Any) -> bool:
    """Is it a plain list or tuple with nothing else in it?"""
    return type(value) in (list, tuple) and 0 < len(value) <= _MOST_PARTS and all(is_array(one) for one in value)


def described(value: Any) -> str:
    """`(32,) int64, from 1 to 10`; of a list the shapes and how often they come."""
    if is_array(value):
        return f"{shape(value)} {dtype(value)}{_device(value)}{_values(value)}"
    counted = Counter(shape(one) for one in value).most_common()
    shown = ", ".join(f"{count} × {one}" if count > 1 else one for one, count in counted[:_SHAPES_SHOWN])
    more = f" and {len(counted) - _SHAPES_SHOWN} other shapes" if len(counted) > _SHAPES_SHOWN else ""
    return f"{shown}{more}"


def sizes(value: Any) -> tuple[int, ...]:
    return tuple(value.shape)


def shape(value: Any) -> str:
    return str(sizes(value))


def dtype(value: Any) -> str:
    return str(getattr(value.dtype, "name", value.dtype)).removeprefix("torch.")


def is_whole(value: Any) -> bool:
    return dtype(value).startswith(("int", "uint"))


def extremes(value: Any) -> tuple[float, float] | None:
    """The smallest and the largest value; None where there is none, or where reading them could do anything else."""
    try:
        if not _is_readable(value):
            return None
        low, high = value.min(), value.max()
        return (int(low), int(high)) if is_whole(value) else (float(low), float(high))
    except Exception:
        # After an error on a card nothing can be read from it any more.
        return None


def rows_outside(value: Any, low: int, high: int, but: int | None = None) -> list[int]:
    """The entries of the first axis that hold a whole number below `low` or above `high`."""
    try:
        if not _is_readable(value) or not value.ndim or not is_whole(value):
            return []
        outside = (value < low) | (value > high)
        if but is not None:
            outside = outside & (value != but)
        found = outside.reshape(len(value), -1).any(1)
        return [row for row, bad in enumerate(found.tolist()) if bad]
    except Exception:
        return []


def _values(value: Any) -> str:
    found = extremes(value) if is_whole(value) else None
    if found is None:
        return ""
    low, high = found
    return f", all {low}" if low == high else f", from {low} to {high}"


def _device(value: Any) -> str:
    if not _is_tensor(value) or value.device.type == "cpu":
        return ""
    return f" on {value.device}"


def _is_tensor(value: Any) -> bool:
    return any(base.__module__ == "torch" and base.__name__ == "Tensor" for base in type(value).__mro__)


def _is_readable(value: Any) -> bool:
    """Plain numbers that are there: not traced, not pretended, not a subclass with a will of its own."""
    kind = type(value)
    if _is_tensor(value):
        if kind.__module__ not in ("torch", "torch.nn.parameter") or value.device.type == "meta" or value.is_sparse:
            return False
        return bool(0 < value.numel() <= _MOST_READ)
    if kind.__name__ not in ("ndarray", "ArrayImpl"):
        return False
    return bool(0 < value.size <= _MOST_READ)
