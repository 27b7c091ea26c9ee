"""A crash of the rehearsed program, with what was known of the call that failed."""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING

from sleuth.dry.births import Argument, Call
from sleuth.dry.tensors import tensors_in
from sleuth.findings import Place
from sleuth.program import is_users, place_of

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


@dataclass(frozen=True, slots=True)
class Crash:
    """`error` went uncaught through the program; `call` is the torch call that raised it, where it was one."""

    error: BaseException
    place: Place | None  # the innermost line of the user's
    call: Call | None
    stage: Stage

    @property
    def message(self) -> str:
        return str(self.error).strip()

    @property
    def words(self) -> str:
        """The error as Python would print it."""
        return f"{type(self.error).__name__}: {self.message}" if self.message else type(self.error).__name__


def crash_of(error: BaseException, stage: Stage) -> Crash:
    place = None
    traceback = error.__traceback__
    while traceback is not None:
        if is_users(traceback.tb_frame.f_code.co_filename):
            place = place_of(traceback.tb_frame.f_code, traceback.tb_lasti)
        traceback = traceback.tb_next
    call = getattr(error, "__sleuth_call__", None)
    return Crash(error, place, call or _call_of_a_layer(error, stage), stage)


def _call_of_a_layer(error: BaseException, stage: Stage) -> Call | None:
    """A layer of torch's own that looked at what it was given and refused it, before anything was computed."""
    traceback, call = error.__traceback__, None
    where: tuple[CodeType | None, int] = (None, 0)
    while traceback is not None:
        frame = traceback.tb_frame
        layer = frame.f_locals.get("self")
        if is_users(frame.f_code.co_filename):
            call, where = None, (frame.f_code, traceback.tb_lasti)
        elif frame.f_code.co_name == "forward" and type(layer).__module__.startswith("torch.nn.modules"):
            given = [one for name, one in frame.f_locals.items() if name != "self"]
            births = [stage.mode.birth(tensor) for tensor in tensors_in(given)]
            arguments = tuple(Argument(str(number), birth) for number, birth in enumerate(births))
            call = Call(type(layer).__name__.lower(), arguments, type(layer).__name__, *where)
        traceback = traceback.tb_next
    return call if call is not None and call.arguments else None
