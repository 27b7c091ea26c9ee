"""Arrays for a signature whose dimensions are partly free."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from sleuth.compare.inputs.guess import LENGTHS, ROWS, SIDES
from sleuth.compare.values import Array, Batch, Input


def filled(inputs: Sequence[Input], example: Batch | None) -> Iterator[Batch]:
    """The free dimensions with the example's sizes, or else with usual ones, the same in all inputs."""
    if example is not None and len(example) == len(inputs):
        yield tuple(_with_sizes(one, array) for one, array in zip(inputs, example, strict=True))
    for batch in _usual(inputs):
        yield batch
        if any(_is_mask(one) for one in inputs):  # where 1 means that a word is left out
            yield tuple(
                (array == 0).astype(array.dtype) if _is_mask(one) else array
                for one, array in zip(inputs, batch, strict=True)
            )


def _usual(inputs: Sequence[Input]) -> Iterator[Batch]:
    if not any(None in one.shape[1:] for one in inputs):
        yield tuple(_values(one, tuple(ROWS if size is None else size for size in one.shape)) for one in inputs)
        return
    for side, length in itertools.zip_longest(SIDES, LENGTHS[: len(SIDES)], fillvalue=LENGTHS[0]):
        yield tuple(_values(one, _shape(one, side, length)) for one in inputs)


def _with_sizes(wanted: Input, array: Array) -> Array:
    if len(wanted.shape) != array.ndim:
        return array
    shape = tuple(have if size is None else size for size, have in zip(wanted.shape, array.shape, strict=True))
    return array if shape == array.shape else _values(wanted, shape)


def _shape(wanted: Input, side: int, length: int) -> tuple[int, ...]:
    """Images are those with two axes and channels; all else is a sequence."""
    free = side if len(wanted.shape) > 3 and wanted.dtype.startswith(("float", "bfloat")) else length
    return tuple(size if size is not None else ROWS if not axis else free for axis, size in enumerate(wanted.shape))


def _values(wanted: Input, shape: tuple[int, ...]) -> Array:
    """Ids are 0, which every table has; a mask leaves nothing out."""
    dtype = np.dtype(wanted.dtype if wanted.dtype not in ("", "bfloat16") else "float32")
    if dtype.kind == "f":
        return np.random.default_rng(0).standard_normal(shape).astype(dtype)
    return np.full(shape, 1 if _is_mask(wanted) else 0, dtype)


def _is_mask(wanted: Input) -> bool:
    return wanted.dtype == "bool" or ("mask" in wanted.name.lower() and wanted.dtype.startswith(("int", "uint")))
