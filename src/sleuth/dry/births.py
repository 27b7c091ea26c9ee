"""Where every tensor comes from: the operation that made it, on which line, from which others. The shapes' history."""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from sleuth.findings import Place
from sleuth.program import place_of, users_frame

# A history is told to a person; what lies further back than this does not explain anything any more.
_FARTHEST = 400
_numbers = itertools.count(1)


def users_line(frame: FrameType | None) -> tuple[CodeType | None, int]:
    """The code and instruction of the user's that this frame, or the nearest above it, stands at."""
    users = users_frame(frame)
    return (None, 0) if users is None else (users.f_code, users.f_lasti)


def now() -> int:
    """A number between those of the births before and after."""
    return next(_numbers)


@dataclass(eq=False, slots=True)
class Birth:
    """How a tensor came to be. `parents` are the births of the tensors the operation was given."""

    operation: str  # "conv2d", "view", "randn", "DataLoader", "parameter", ...
    shape: tuple[int, ...]
    dtype: str  # "float32"
    device: str  # "cuda:0"
    parents: tuple[Birth, ...] = ()
    # The layer in whose forward it was made, e.g. "features.3 (MaxPool2d)"; "" outside of any.
    layer: str = ""
    code: CodeType | None = None
    instruction: int = 0
    # What the user calls it, where that is known: a parameter's or buffer's dotted name.
    name: str = ""
    # Births are numbered as they happen.
    number: int = field(default_factory=_numbers.__next__)

    @property
    def place(self) -> Place | None:
        """The user's line."""
        return None if self.code is None else place_of(self.code, self.instruction)

    def ancestors(self) -> Iterator[Birth]:
        """This birth and those before it, the nearest first, each once."""
        seen: set[int] = set()
        todo = [self]
        while todo and len(seen) < _FARTHEST:
            one = todo.pop(0)
            if id(one) in seen:
                continue
            seen.add(id(one))
            yield one
            todo += one.parents


@dataclass(frozen=True, slots=True)
class Argument:
    """One tensor (or plain value) a call was given."""

    name: str  # its name or position: "input", "weight", "1", "tensors[0]"
    birth: Birth | None  # None for a plain value
    value: Any = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an operation: by its plain name, with what it was given."""

    operation: str
    arguments: tuple[Argument, ...]
    layer: str = ""
    code: CodeType | None = None
    instruction: int = 0

    @property
    def place(self) -> Place | None:
        return None if self.code is None else place_of(self.code, self.instruction)

    @property
    def births(self) -> tuple[Birth, ...]:
        return tuple(argument.birth for argument in self.arguments if argument.birth is not None)


class Births:
    """The birth of every living tensor, by the tensor itself."""

    def __init__(self) -> None:
        # The last that were changed in place: a result of that which nobody uses is in no history.
        self.changed: deque[Birth] = deque(maxlen=1000)
        self._known: dict[int, tuple[weakref.ref[Any], Birth]] = {}

    def __getitem__(self, tensor: Any) -> Birth | None:
        entry = self._known.get(id(tensor))
        return entry[1] if entry is not None and entry[0]() is tensor else None

    def __setitem__(self, tensor: Any, birth: Birth) -> None:
        key = id(tensor)
        if birth.operation.endswith("_"):
            self.changed.append(birth)

        def forget(reference: weakref.ref[Any]) -> None:
            entry = self._known.get(key)
            if entry is not None and entry[0] is reference:
                del self._known[key]

        self._known[key] = (weakref.ref(tensor, forget), birth)
