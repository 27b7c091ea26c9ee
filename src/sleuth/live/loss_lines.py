"""Where a loss is computed, for a backward pass that a library calls: the user's own line is then merely `fit()`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from types import CodeType, FrameType

from sleuth.findings import Place
from sleuth.program import place_of, users_frame

Line = tuple[CodeType, int]


class LossLines:
    """For each line under which a library both called the model and differentiated its loss: the user's line, deeper
    down, that computed the loss."""

    def __init__(self) -> None:
        self._known: dict[Line, Line] = {}

    def learn(self, frame: FrameType | None, callers: Collection[tuple[int, int]], made: Iterable[Line]) -> None:
        """`callers` are the user's frames, by identity and instruction, when the model was called; `made` are the lines
        behind the loss, the last first. A frame that stands where it stood then has a library do everything."""
        users = users_frame(frame)
        if users is None or (id(users), users.f_lasti) not in callers:
            return
        here = (users.f_code, users.f_lasti)
        deeper = next((line for line in made if line != here), None)
        if deeper is not None:
            self._known[here] = deeper

    def place(self, frame: FrameType | None) -> Place | None:
        """The line to name for a backward pass that this frame calls."""
        users = users_frame(frame)
        if users is None:
            return None
        here = (users.f_code, users.f_lasti)
        return place_of(*self._known.get(here, here))

    def computed(self, line: Line) -> Place | None:
        """Where the loss is computed, if this line is a library's call."""
        deeper = self._known.get(line)
        return place_of(*deeper) if deeper is not None else None
