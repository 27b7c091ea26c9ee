"""Arrays by name, in memory as long as they are few, and on disk from then on."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, MutableMapping
from pathlib import Path

import numpy as np

from sleuth.compare.values import Array

_SHARE = 8


class Shelf(MutableMapping[str, Array]):
    """What is beyond the budget is read back from a file, page by page, by whoever looks at it."""

    def __init__(self, budget: int | None = None) -> None:
        self._budget = _affordable() if budget is None else budget
        self._arrays: dict[str, Array] = {}
        self._held = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __setitem__(self, name: str, array: Array) -> None:
        self.pop(name, None)
        if self._held + array.nbytes <= self._budget or not array.size or array.dtype.hasobject:
            self._held += array.nbytes
            self._arrays[name] = array
        else:
            self._arrays[name] = self._on_disk(array)

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def __delitem__(self, name: str) -> None:
        array = self._arrays.pop(name)
        if not isinstance(array, np.memmap):
            self._held -= array.nbytes

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def _on_disk(self, array: Array) -> Array:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="sleuth-compare-")
        path = Path(self._folder.name) / f"{len(self._arrays)}.bin"
        np.ascontiguousarray(array).tofile(path)
        return np.memmap(path, dtype=array.dtype, mode="c", shape=array.shape)


def _affordable() -> int:
    """A part of what the machine has: three runs are held at once, and the models themselves."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _SHARE
    except (AttributeError, ValueError, OSError):
        return 1 << 30
