"""The tensor whose type does not go with the others of a call, and where it got it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _messages, _scene, _words
from sleuth.findings import Evidence, Link


@dataclass(frozen=True, slots=True)
class OddType:
    birth: Birth
    wanted: str
    other: Birth
    name: str  # what the user calls it, "" where it has no name

    @property
    def origin(self) -> Birth:
        """The oldest that already had the type."""
        oldest = self.birth
        for one in _history.trunk(self.birth):
            if one.dtype != self.birth.dtype:
                break
            oldest = one
        return oldest

    @property
    def called(self) -> str:
        return self.name or f"what {_words.maker(self.birth)} made"

    @property
    def evidence(self) -> list[Evidence]:
        other = self.other.name or f"what {_words.maker(self.other)} made"
        return [Evidence(self.called, self.birth.dtype), Evidence(other, self.other.dtype)]

    @property
    def chain(self) -> list[Link]:
        links = _history.of_types(self.birth)
        if _history.is_weight(self.other):
            return [*links, Link(f"{self.other.name or 'the weight'} is {self.other.dtype}", self.other.place)]
        return [*links, *(link for link in _history.of_types(self.other) if link not in links)]


def odd_type(crash: Crash) -> OddType | None:
    """Weights say which type is wanted; without any, the type of most."""
    births = births_of(crash)
    if not _messages.is_about_types(crash.message) or len({birth.dtype for birth in births}) < 2:
        return None
    weights = [birth for birth in births if _history.is_weight(birth)]
    wanted = weights[0].dtype if weights else Counter(birth.dtype for birth in births).most_common(1)[0][0]
    odd = next((birth for birth in births if birth.dtype != wanted and not _history.is_weight(birth)), None)
    if odd is None:
        return None
    other = next(birth for birth in births if birth.dtype == wanted)
    return OddType(odd, wanted, other, _scene.nearest_name(crash, odd))


def births_of(crash: Crash) -> list[Birth]:
    """What the failing call was given; where a layer refused before any call, its input and its weights."""
    from torch import Tensor

    if crash.call is not None and crash.call.births:
        return list(crash.call.births)
    at_work = _scene.layer(crash)
    if at_work is None:
        return []
    given = [value for value in at_work[1].values() if isinstance(value, Tensor)]
    found = [crash.stage.births[one] for one in [*given, *at_work[0].parameters()]]
    return [birth for birth in found if birth is not None]
