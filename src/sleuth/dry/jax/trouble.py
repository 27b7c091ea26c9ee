"""A crash in JAX with all that is known of it, and how it becomes a finding."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sleuth import handbook
from sleuth.dry.births import Birth, Call
from sleuth.dry.crash import Crash
from sleuth.dry.jax import story
from sleuth.findings import Evidence, Finding, Fix, Link

_LIBRARIES = ("jax", "optax", "flax", "equinox")


@dataclass(frozen=True)
class Trouble:
    crash: Crash
    call: Call | None

    @property
    def text(self) -> str:
        return self.crash.message

    @property
    def births(self) -> tuple[Birth, ...]:
        return self.call.births if self.call is not None else ()

    def finding(
        self,
        diagnosis: str,
        title: str,
        evidence: Iterable[tuple[str, Any]] = (),
        fixes: Iterable[str] = (),
        chain: Iterable[Link] | None = None,
    ) -> Finding:
        """The chain is the history of what the failed operation was given."""
        facts = [Evidence(name, str(value) if isinstance(value, tuple) else value) for name, value in evidence]
        words = self.crash.words
        return handbook.finding(
            diagnosis,
            place=self.crash.place,
            title=title,
            evidence=[*facts, Evidence("error", words if len(words) <= 600 else words[:600] + " …")],
            chain=story.chains(self.births) if chain is None else chain,
            fixes=[Fix(title=fix) for fix in fixes],
        )


def called(birth: Birth) -> str:
    """`params['w2'] (30, 10)`."""
    return f"{birth.name} {birth.shape}" if birth.name else str(birth.shape)


def goes_through_jax(error: BaseException) -> bool:
    """Was it raised inside JAX, or a library made of it?"""
    traceback = error.__traceback__
    last = ""
    while traceback is not None:
        last = str(traceback.tb_frame.f_globals.get("__name__", ""))
        traceback = traceback.tb_next
    named = type(error).__module__.partition(".")[0] == "jax"
    return named or last.partition(".")[0] in _LIBRARIES
