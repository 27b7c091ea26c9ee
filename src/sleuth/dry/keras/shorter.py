"""Data cut to what a rehearsal needs: the first few batches, and the uneven last one."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

USUAL_BATCH = 32


def rows_of(data: Any) -> int | None:
    """How many samples arrays hold; None for anything that is not arrays, or not of one length."""
    leaves = [leaf for leaf in keras.tree.flatten(data) if leaf is not None]
    if not leaves or not all(_is_array(leaf) for leaf in leaves):
        return None
    lengths = {int(leaf.shape[0]) for leaf in leaves}
    return lengths.pop() if len(lengths) == 1 else None


def _is_array(leaf: Any) -> bool:
    return hasattr(leaf, "shape") and hasattr(leaf, "__getitem__") and len(leaf.shape) > 0


def kept_rows(rows: int, batch: int, rounds: int) -> Any:
    """The samples of the first `rounds` batches and of the uneven last; None where that is all."""
    first, rest = rounds * batch, rows % batch
    if rows <= first + rest:
        return None
    return np.concatenate([np.arange(first), np.arange(rows - rest, rows)])


def only(data: Any, rows: Any) -> Any:
    """These samples of every array."""
    return keras.tree.map_structure(lambda leaf: None if leaf is None else _taken(leaf, rows), data)


def _taken(leaf: Any, rows: Any) -> Any:
    return leaf.iloc[rows] if hasattr(leaf, "iloc") else leaf[rows]


class FewBatches(keras.utils.PyDataset):  # type: ignore[misc]
    """The first batches of a data set, and its last."""

    def __init__(self, whole: Any, rounds: int) -> None:
        super().__init__()
        self._whole = whole
        self._numbers = sorted({*range(min(rounds, len(whole))), len(whole) - 1})

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: int) -> Any:
        return self._whole[self._numbers[index]]

    def on_epoch_begin(self) -> None:
        self._whole.on_epoch_begin()

    def on_epoch_end(self) -> None:
        self._whole.on_epoch_end()
