"""`open`, reading from both layers and writing to the upper one."""

from __future__ import annotations

import _io
import os
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
        if opener is not None and writing:
            return _opened_by(opener, file, mode, list(args), options)
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


def _opened_by(opener: Any, file: Any, mode: str, args: list[Any], options: dict[str, Any]) -> Any:
    """What the program's own function opens need not be `file`, and goes through `os.open`, which is ours as well."""
    if len(args) > 5:
        args[5] = None
    descriptor = opener(file, _flags(mode))
    opened = _io.open(descriptor, mode, *args, **{**options, "opener": None})
    _call_it(opened, file)
    return opened


def _flags(mode: str) -> int:
    """As `open` computes them."""
    kind = next(letter for letter in "rwax" if letter in mode)
    making = {"r": 0, "w": os.O_CREAT | os.O_TRUNC, "a": os.O_CREAT | os.O_APPEND, "x": os.O_CREAT | os.O_EXCL}[kind]
    return making | (os.O_RDWR if "+" in mode else os.O_WRONLY) | getattr(os, "O_CLOEXEC", 0)


def _for_writing(changes: Changes, place: str, mode: str) -> str:
    return changes.for_writing(place, create="r" not in mode, exclusive="x" in mode, truncate="w" in mode)


def _call_it(opened: Any, name: Any) -> None:
    """Let the file say the name it was opened by."""
    raw = getattr(opened, "buffer", opened)
    raw = getattr(raw, "raw", raw)
    if getattr(raw, "name", name) != name:
        raw.name = name
