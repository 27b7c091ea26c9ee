"""What is known of the Keras side of a rehearsal: lines of construction, calls under way, the call that failed."""

from __future__ import annotations

import sys
import weakref
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Literal

from sleuth.dry.births import Birth, Call
from sleuth.findings import Place
from sleuth.program import place_of

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

Line = tuple[CodeType, int]

_known: weakref.WeakKeyDictionary[Any, Notes] = weakref.WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Failed:
    """The innermost call of a layer, loss or metric that raised. `by_container`: a model called it, not the user."""

    error: BaseException
    kind: Literal["layer", "loss", "metrics"]
    thing: Any
    call: Call
    by_container: bool

    def is_behind(self, error: BaseException) -> bool:
        """Is `error` this one? Keras raises a new error whose text holds that of the first."""
        own = str(self.error).strip()
        return error is self.error or (bool(own) and own in str(error))


class Notes:
    """One for each rehearsal that uses Keras."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.made: weakref.WeakKeyDictionary[Any, Line] = weakref.WeakKeyDictionary()
        # The user's frames that called a model, layer or `fit` which is still under way.
        self.callers: list[FrameType | None] = []
        self.failed: Failed | None = None
        # Whether a `fit`, `evaluate` or `predict` is under way: those inside it are its own.
        self.training = False
        # Additions and multiplications of the calls since this was set to 0; None while nobody asks.
        self.operations: int | None = None
        self.models: weakref.WeakSet[Any] = weakref.WeakSet()
        # What the last call of a model gave: Keras hands copies of it to the loss.
        self.outputs: list[Birth] = []
        # What the model under way was built for and what it is given, where these differ.
        self.unlike_declared: tuple[Any, Any, Any] | None = None
        _known[stage] = self

    def line_of(self, thing: Any, frame: FrameType | None) -> Line | None:
        """The user's line for a call: its own, or that of the making where a container calls."""
        made = self.made.get(thing)
        if self.by_container(frame) and made is not None:
            return made
        return None if frame is None else (frame.f_code, frame.f_lasti)

    def by_container(self, frame: FrameType | None) -> bool:
        """Does no code of the user's stand between the call under way and this frame?"""
        return bool(self.callers) and self.callers[-1] is frame

    def place_made(self, thing: Any) -> Place | None:
        line = self.made.get(thing)
        return None if line is None else place_of(*line)

    def fails(self, failed: Failed) -> None:
        """Keep the innermost of those that one error goes through."""
        if self.failed is None or not self.failed.is_behind(failed.error):
            self.failed = failed

    def birth(self, tensor: Any, otherwise: str, line: Line | None = None, name: str = "") -> Birth:
        """The birth of a tensor; where it is not known, it is taken to be born here."""
        known = self.stage.births[tensor]
        if known is None or self._made_by_keras(known):
            code, instruction = line or (None, 0)
            device = self.device_of(tensor)
            known = Birth(
                otherwise, tuple(tensor.shape), dtype_of(tensor), device, code=code, instruction=instruction, name=name
            )
            self.stage.births[tensor] = known
        return known

    def device_of(self, tensor: Any) -> str:
        """The label that the rehearsal of torch gives its tensors; others have none."""
        torch = sys.modules.get("torch")
        if torch is None or not isinstance(tensor, torch.Tensor):
            return ""
        return self.stage.mode.label(tensor) or self.stage.now_on

    def _made_by_keras(self, birth: Birth) -> bool:
        """Is it data that Keras turned into a tensor inside a `fit`, rather than a layer's or the user's own work?"""
        frame = self.callers[0] if self.training and self.callers else None
        here = frame is not None and birth.code is frame.f_code and birth.instruction == frame.f_lasti
        return here and not birth.layer and birth.operation != "data"

    def output_birth(self, tensor: Any, line: Line | None) -> Birth:
        """The birth of a model's output, or of the one that this is a copy of."""
        shape = tuple(tensor.shape)
        alike = (birth for birth in self.outputs if birth.shape[1:] == shape[1:])
        known = self.stage.births[tensor]
        if known is None or not known.layer:
            known = next(alike, None) or known
        return known or self.birth(tensor, "output", line)


def notes_of(stage: Any) -> Notes | None:
    return _known.get(stage)


def dtype_of(tensor: Any) -> str:
    return str(getattr(tensor, "dtype", "")).removeprefix("torch.")
