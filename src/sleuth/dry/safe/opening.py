"""`open`, reading from both layers and writing to the upper one."""

from __future__ import annotations

import _io
from collections.abc import Callable
from typing import Any

from sleuth.dry.safe.changes import Changes
from sleuth.dry.safe.layers import real, stream


def stand(changes: Changes) -> Callable[..., Any]:
    """What to put in the place of `open`."""
    layers = changes.layers

    def open(file: Any, mode: Any = "r", *args: Any, **options: Any) -> Any:
        writing = isinstance(mode, str) and not set(mode).isdisjoint("wax+")
        opener = options.get("opener") or (args[5] if len(args) > 5 else None)
        if opener is not None or (layers.clean and not writing):
            return _io.open(file, mode, *args, **options)
        # What must be new must not be a link either.
        place = layers.place(file, follow=not (writing and "x" in mode))
        if place is None:
            descriptor = stream(file) if writing else None
            return _io.open(file if descriptor is None else real.dup(descriptor), mode, *args, **options)
        try:
            where = _for_writing(changes, place, mode) if writing else layers.where(place)
            opened = _io.open(where, mode, *args, **options)
        except OSError as error:
            error.filename = file
            raise
        _call_it(opened, file)
        return opened

    return open


def _for_writing(changes: Changes, place: str, mode: str) -> str:
    return changes.for_writing(place, create="r" not in mode, exclusive="x" in mode, truncate="w" in mode)


def _call_it(opened: Any, name: Any) -> None:
    """Let the file say the name it was opened by."""
    raw = getattr(opened, "buffer", opened)
    raw = getattr(raw, "raw", raw)
    if getattr(raw, "name", name) != name:
        raw.name = name
