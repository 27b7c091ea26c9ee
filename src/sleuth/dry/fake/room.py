"""Room that is never touched: one vast stretch of addresses that no memory stands behind.

What `malloc` gives counts against the machine's memory even before it is touched: one tensor larger than the machine is
refused, and so is a fork of a process that holds many."""

from __future__ import annotations

import mmap
import sys
from functools import cache

import torch

# More than any rehearsal holds at once. What comes round again shares its addresses with the oldest, which hurts nobody
# as nothing is written there.
_VAST = 1 << 42
_LEAST = 1 << 33
_ALIGNED = 512
_WITHOUT_MEMORY = getattr(mmap, "MAP_NORESERVE", 0x40 if sys.platform == "darwin" else 0x4000)


class Room:
    def __init__(self, region: mmap.mmap, size: int) -> None:
        self._region = region
        self._size = size
        self._next = 0

    def storage(self, size: int) -> torch.UntypedStorage | None:
        """A storage of its own; None where it is too large even for this."""
        if size > self._size:
            return None
        if self._next + size > self._size:
            self._next = 0
        flat = torch.frombuffer(self._region, dtype=torch.uint8, count=size, offset=self._next)
        self._next += -(-size // _ALIGNED) * _ALIGNED
        return flat.untyped_storage()


@cache
def the_room() -> Room | None:
    """None on a system that has no such addresses to give."""
    size = _VAST
    while size >= _LEAST:
        try:
            region = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _WITHOUT_MEMORY)
        except (OSError, ValueError):
            size >>= 1
            continue
        return Room(region, size)
    return None
