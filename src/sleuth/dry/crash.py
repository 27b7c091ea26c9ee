"""A crash of the rehearsed program, with what was known of the call that failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sleuth.dry.births import Call
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
    return Crash(error, place, getattr(error, "__sleuth_call__", None), stage)
