"""Where the user's program made its things: layers, optimisers, schedulers, loaders, and the initial weights."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any

from torch import Tensor, nn
from torch.utils.weak import WeakIdKeyDictionary

from sleuth.findings import Place
from sleuth.layer_source import place_of_layer
from sleuth.live.learning.on_behalf import is_made_by_library, place_of_rate, place_of_samples
from sleuth.program import place_of, users_frame


class Making:
    """The line and the order of every construction, as long as the thing lives."""

    def __init__(self) -> None:
        self._made: WeakIdKeyDictionary = WeakIdKeyDictionary()
        self._initialised: WeakIdKeyDictionary = WeakIdKeyDictionary()
        self._supposed: WeakIdKeyDictionary = WeakIdKeyDictionary()
        # Optimisers that a library makes; and, by data set, the line where the user makes a loader over it. (A data set
        # may be a list, which takes no weak reference.)
        self._by_library: WeakIdKeyDictionary = WeakIdKeyDictionary()
        self._loaders: dict[int, tuple[CodeType, int]] = {}
        self._let_go: list[tuple[WeakIdKeyDictionary, Any, Any]] = []
        self.count = 0

    def note(self, thing: Any) -> tuple[CodeType, int] | None:
        """Call from where the thing is being made."""
        self.count += 1
        frame = _maker(thing, sys._getframe(1))
        line = (frame.f_code, frame.f_lasti) if frame is not None else None
        self._made[thing] = (line, self.count)
        return line

    def note_optimizer(self, optimizer: Any) -> None:
        line = self.note(optimizer)
        if line is not None and self._is_by_library(optimizer):
            self._by_library[optimizer] = line[0]

    def note_loader(self, loader: Any) -> None:
        line = self.note(loader)
        if line is not None and not self._is_by_library(loader):
            self._loaders.setdefault(id(loader.dataset), line)

    @staticmethod
    def _is_by_library(thing: Any) -> bool:
        frame = sys._getframe(2)
        users = _maker(thing, frame)
        return users is not None and is_made_by_library(thing, users, frame)

    def place_of_optimizer(self, optimizer: Any, rate: float) -> Place | None:
        """Where it is made, or where the library that makes it is told the rate."""
        code = self._by_library.get(optimizer)
        return (place_of_rate(code, rate) if code is not None else None) or self.place(optimizer)

    def place_of_loader(self, loader: Any) -> Place | None:
        """Where the user makes it; for one that a library makes, where the user's data set makes its samples."""
        line = self._loaders.get(id(loader.dataset))
        if line is not None:
            return place_of(*line)
        return place_of_samples(loader.dataset) or self.place(loader)

    def initialised(self, tensor: Any) -> None:
        if isinstance(tensor, Tensor):
            frame = users_frame(sys._getframe(1))
            if frame is not None:
                self._initialised[tensor] = (frame.f_code, frame.f_lasti)

    def let_go(self, tensors: Sequence[Any]) -> None:
        """Tensors trade places, which torch refuses as long as anyone holds a weak reference to one."""
        for noted in (self._made, self._initialised):
            self._let_go += [(noted, tensor, noted.pop(tensor)) for tensor in tensors if tensor in noted]

    def take_up(self) -> None:
        """They have: what was noted of each is so still."""
        for noted, tensor, what in self._let_go:
            noted[tensor] = what
        self._let_go.clear()

    def place(self, thing: Any) -> Place | None:
        line, _ = self._made.get(thing, (None, 0))
        return place_of(*line) if line is not None else self._supposed.get(thing)

    def suppose_parts_of(self, model: nn.Module) -> None:
        """For layers made before the watch: their line is where their owner's class assigns them."""
        for name, part in model.named_modules():
            if name and part not in self._made:
                place = place_of_layer(model, name)
                if place is not None:
                    self._supposed[part] = place

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
