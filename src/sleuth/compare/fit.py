"""The reference's inputs as the target wants them: by name, by place, and with the axes of an image in its order."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

import numpy as np

from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.values import Array, Batch, Input

# Channels last and channels first, of images, of series, of volumes.
LAYOUTS = ((0, 2, 3, 1), (0, 3, 1, 2), (0, 2, 1), (0, 2, 3, 4, 1), (0, 4, 1, 2, 3))
# Beyond this many inputs, an order other than by name or by place is not looked for.
_MOST_ORDERED = 6
_WHOLE_IN_FLOAT32 = 1 << 24


def to(target: Side, reference: Side, batch: Batch) -> Batch:
    """Raises CannotCompare, naming both signatures, where it cannot be done in just one way."""
    wanted = target.inputs
    if not wanted:
        return batch
    order = _order(target, reference, batch)
    arrays = [_arranged(one, batch[place], target.learnt) for one, place in zip(wanted, order, strict=True)]
    for one, place, array in zip(wanted, order, arrays, strict=True):
        if array is None:
            raise CannotCompare(_misfit(target, one, batch[place]))
    return tuple(array for array in arrays if array is not None)


def in_sizes_of(target: Side, reference: Side, batch: Batch) -> Batch | None:
    """The batch cut or repeated to the sizes that are fixed in the target, still in the reference's layout."""
    if not target.inputs or target.learnt:
        return batch
    own = _own_signature(reference, batch)
    order = _by_name(target.inputs, own) or (list(range(len(batch))) if len(target.inputs) == len(batch) else None)
    if order is None:
        return None
    resized = list(batch)
    for one, place in zip(target.inputs, order, strict=True):
        if batch[place].ndim == len(one.shape):
            resized[place] = _resized(batch[place], _in_layout_of(batch[place], one.shape))
    return tuple(resized)


def differs(title: str, inputs: Sequence[Input], other_title: str, others: Sequence[Input]) -> str:
    """One line that names both signatures."""
    return f"the two take different inputs: {title} {shown(inputs)}, {other_title} {shown(others)}"


def shown(inputs: Sequence[Input]) -> str:
    """`(ids: any x 16 int64, mask: any x 16 bool)`."""
    parts = [f"{one.name}: {shape_shown(one.shape)} {one.dtype}".strip() for one in inputs]
    return f"({', '.join(parts)})"


def shape_shown(shape: Sequence[int | None]) -> str:
    return " x ".join("any" if size is None else str(size) for size in shape) or "one number"


def has_shape(shape: Sequence[int], wanted: Sequence[int | None]) -> bool:
    return len(shape) == len(wanted) and all(b is None or a == b for a, b in zip(shape, wanted, strict=True))


def _own_signature(reference: Side, batch: Batch) -> tuple[Input, ...]:
    """The reference's names where it has them, with the shapes at hand."""
    known = [one.name for one in reference.inputs]
    names = known if len(known) == len(batch) else [f"input_{place}" for place in range(len(batch))]
    return tuple(Input(name, array.shape, array.dtype.name) for name, array in zip(names, batch, strict=True))


def _order(target: Side, reference: Side, batch: Batch) -> list[int]:
    """Which of the reference's inputs each of the target's is."""
    wanted, own, loose = target.inputs, _own_signature(reference, batch), target.learnt
    named = _by_name(wanted, own)
    if named is not None:
        return named
    if len(wanted) != len(batch):
        raise CannotCompare(differs(target.title, wanted, reference.title, own))
    by_place = list(range(len(batch)))
    if len(batch) == 1 or _all_fit(wanted, batch, by_place, loose):
        return by_place
    others = [list(one) for one in _orders(wanted, own) if _all_fit(wanted, batch, one, loose)]
    if len(others) != 1:
        raise CannotCompare(differs(target.title, wanted, reference.title, own))
    return others[0]


def _by_name(wanted: Sequence[Input], own: Sequence[Input]) -> list[int] | None:
    """Where every input of the target is one of the reference's; more of those are what an exporter found unused."""
    for plain in (str, _plain):
        places = {plain(one.name): place for place, one in enumerate(own)}
        names = [plain(one.name) for one in wanted]
        if len(places) == len(own) and len(set(names)) == len(names) and all(name in places for name in names):
            return [places[name] for name in names]
    return None


def _plain(name: str) -> str:
    """`inputids` of `serving_default_input_ids:0`, of `model/inputs.input_ids` and of `inputIds`."""
    name = re.split(r"[/.]", name.split(":")[0])[-1]
    name = re.sub(r"^(serving_default|l|args|arg|kwargs)_", "", name)
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _orders(wanted: Sequence[Input], own: Sequence[Input]) -> Iterator[tuple[int, ...]]:
    """All that keep together what has the same name."""
    if len(own) > _MOST_ORDERED:
        return
    names = {_plain(one.name): place for place, one in enumerate(own)}
    fixed = [names.get(_plain(one.name)) for one in wanted]
    for order in itertools.permutations(range(len(own))):
        if all(place is None or place == chosen for place, chosen in zip(fixed, order, strict=True)):
            yield order


def _all_fit(wanted: Sequence[Input], batch: Batch, order: Sequence[int], loose: bool) -> bool:
    return all(_arranged(one, batch[place], loose) is not None for one, place in zip(wanted, order, strict=True))


def _misfit(target: Side, wanted: Input, array: Array) -> str:
    takes = f"{target.title}: input {wanted.name} takes {shape_shown(wanted.shape)} {wanted.dtype}".rstrip()
    rows = wanted.shape[0] if wanted.shape else None
    fixed = rows is not None and array.shape[:1] != (rows,) and has_shape(array.shape[1:], wanted.shape[1:])
    hint = f": its batch is fixed at {rows}" if fixed else ""
    return f"{takes}, and was given {shape_shown(array.shape)} {array.dtype.name}{hint}"


def _arranged(wanted: Input, array: Array, loose: bool) -> Array | None:
    """In the wanted type, and with axes turned, put on or taken off where only so it fits; None where it does not."""
    typed = _typed(array, wanted.dtype)
    if typed is None:
        return None
    choices = [one for one in _choices(typed, len(wanted.shape)) if one.ndim == len(wanted.shape)]
    if loose:
        found = max(choices, key=lambda one: _alike(one.shape, wanted.shape), default=None)
    else:
        found = next((one for one in choices if has_shape(one.shape, wanted.shape)), None)
    return None if found is None else np.ascontiguousarray(found).reshape(found.shape)


def _alike(shape: Sequence[int], wanted: Sequence[int | None]) -> int:
    """How many of the sizes after the first are the same."""
    return sum(a == b for a, b in zip(shape[1:], wanted[1:], strict=True))


def _choices(array: Array, rank: int) -> Iterator[Array]:
    yield array
    if rank == array.ndim:
        yield from (array.transpose(axes) for axes in LAYOUTS if len(axes) == array.ndim)
    elif rank == array.ndim + 1:
        yield array[None]
        yield array[..., None]
    elif rank == array.ndim - 1:
        if array.shape[0] == 1:
            yield array[0]
        if array.shape[-1] == 1:
            yield array[..., 0]


def _typed(array: Array, dtype: str) -> Array | None:
    """Between integers and between floats of several widths; whole numbers as floats where a runtime has ids so.

    Never a number to another: what the wanted type cannot hold exactly does not fit, save a float's own rounding."""
    if dtype in ("bfloat16", "", array.dtype.name) or array.dtype.kind == "V":
        return array
    try:
        wanted = np.dtype(dtype)
    except TypeError:
        return array
    kinds = array.dtype.kind, wanted.kind
    if kinds in (("f", "f"), ("c", "c")):
        return array.astype(wanted)
    if kinds[0] in "iub" and kinds[1] in "iub":
        return array.astype(wanted) if _holds(wanted, array) else None
    if kinds[0] in "iub" and kinds[1] == "f":
        exact = not array.size or int(np.abs(array.astype(np.int64)).max()) <= _WHOLE_IN_FLOAT32
        return array.astype(wanted) if exact else None
    return None


def _holds(wanted: np.dtype[np.generic], array: Array) -> bool:
    return bool(np.array_equal(array.astype(wanted).astype(np.int64), array.astype(np.int64)))


def _in_layout_of(array: Array, wanted: Sequence[int | None]) -> list[int | None]:
    """The wanted sizes in the array's own layout: of those that can be, the one that changes least."""
    choices: list[list[int | None]] = [list(wanted)]
    for axes in LAYOUTS:
        if len(axes) == len(wanted):
            turned: list[int | None] = [None] * len(wanted)
            for size, axis in zip(wanted, axes, strict=True):
                turned[axis] = size
            choices.append(turned)
    return max(choices, key=lambda one: _alike(array.shape, one))


def _resized(array: Array, sizes: Sequence[int | None]) -> Array:
    for axis, size in enumerate(sizes):
        if size is not None and size != array.shape[axis]:
            array = np.take(array, np.arange(size) % max(array.shape[axis], 1), axis)
    return np.ascontiguousarray(array).reshape(array.shape)
