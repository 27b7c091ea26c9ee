"""Where the user's program made its things: layers, optimisers, schedulers, loaders, and the initial weights."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any

from torch import Tensor
from torch.utils.weak import WeakIdKeyDictionary

from sleuth.findings import Place
from sleuth.program import place_of, users_frame


class Making:
    """The line and the order of every construction, as long as the thing lives."""

    def __init__(self) -> None:
        self._made: WeakIdKeyDictionary = WeakIdKeyDictionary()
        self._initialised: WeakIdKeyDictionary = WeakIdKeyDictionary()
        self.count = 0

    def note(self, thing: Any) -> tuple[CodeType, int] | None:
        """Call from where the thing is being made."""
        self.count += 1
        frame = _maker(thing, sys._getframe(1))
        line = (frame.f_code, frame.f_lasti) if frame is not None else None
        self._made[thing] = (line, self.count)
        return line

    def initialised(self, tensor: Any) -> None:
        if isinstance(tensor, Tensor):
            frame = users_frame(sys._getframe(1))
            if frame is not None:
                self._initialised[tensor] = (frame.f_code, frame.f_lasti)

    def place(self, thing: Any) -> Place | None:
        line, _ = self._made.get(thing, (None, 0))
        return place_of(*line) if line is not None else None

    def order(self, thing: Any) -> int:
        """When it was made, in the order of all constructions; 0 where that was before the watch."""
        return int(self._made.get(thing, (None, 0))[1])

    def place_of_weights(self, tensor: Tensor) -> Place | None:
        line = self._initialised.get(tensor)
        return place_of(*line) if line is not None else None


def _maker(thing: Any, frame: FrameType | None) -> FrameType | None:
    """The user's frame that made a thing: not the thing's own constructor."""
    frame = users_frame(frame)
    while frame is not None and frame.f_code.co_name == "__init__":
        code = frame.f_code
        if not code.co_argcount or frame.f_locals.get(code.co_varnames[0]) is not thing:
            break
        outer = users_frame(frame.f_back)
        if outer is None:
            break
        frame = outer
    return frame
