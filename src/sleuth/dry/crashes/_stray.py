"""The tensor that is on another device than the rest of a call, and where it was left there."""

from __future__ import annotations

from dataclasses import dataclass

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _messages, _scene, _words
from sleuth.findings import Evidence, Link

_CPU = "cpu"


@dataclass(frozen=True, slots=True)
class Stray:
    """`birth` is the one that is in the wrong place, `others` are where it should be: on `wanted`."""

    birth: Birth
    all: tuple[Birth, ...]  # there may be several, e.g. both hidden states of an LSTM
    wanted: str
    others: tuple[Birth, ...]
    spelling: _scene.Spelling | None
    names: dict[int, str]

    @property
    def origin(self) -> Birth:
        """The oldest of its history."""
        return _history.source(self.birth)

    @property
    def history(self) -> tuple[Birth, ...]:
        return tuple(self.birth.ancestors())

    @property
    def name(self) -> str:
        """What the user calls it, or who made it."""
        return self._called(self.birth)

    @property
    def has_a_name(self) -> bool:
        return bool(self.birth.name or self.names.get(id(self.birth)))

    @property
    def evidence(self) -> list[Evidence]:
        shown = [Evidence(self.name, f"{_words.shape(self.birth.shape)} on {self.birth.device}")]
        return shown + [
            Evidence(self._called(other), f"{_words.shape(other.shape)} on {other.device}") for other in self.others[:1]
        ]

    @property
    def chain(self) -> list[Link]:
        return [link for birth in (self.birth, *self.others[:1]) for link in self._story(birth)]

    def _called(self, birth: Birth) -> str:
        named = birth.name or self.names.get(id(birth), "")
        return named or ("a weight" if _history.is_weight(birth) else f"what {_words.maker(birth)} made")

    def _story(self, birth: Birth) -> list[Link]:
        if _history.is_weight(birth):
            return [Link(f"{self._called(birth)} is on {birth.device}", birth.place)]
        return _history.of_devices(birth)


def stray(crash: Crash) -> Stray | None:
    """Somebody asked for the card, so the one on the CPU is in the wrong place; of two cards the second is."""
    if not _messages.is_about_devices(crash.message):
        return None
    births = [birth for birth in _births(crash) if birth.device != "meta"]
    places = list(dict.fromkeys(birth.device for birth in births))
    if len(places) < 2:
        return None
    wanted = next((place for place in places if place != _CPU), places[0])
    if _CPU not in places:
        weights = [birth.device for birth in births if _history.is_weight(birth)]
        wanted = weights[0] if weights else wanted
    odd = tuple(birth for birth in births if (birth.device == _CPU if _CPU in places else birth.device != wanted))
    others = tuple(birth for birth in births if birth.device == wanted)
    names = {id(birth): _scene.nearest_name(crash, birth) for birth in (*odd, *others)}
    return Stray(odd[0], odd, wanted, others, _scene.spelling(crash, odd[0]), names)


def _births(crash: Crash) -> list[Birth]:
    from torch import Tensor

    found = list(crash.call.births) if crash.call is not None else []
    if found:
        return found
    at_work = _scene.layer(crash)
    values = at_work[1].values() if at_work is not None else ()
    tensors = [one for value in values for one in (value if isinstance(value, tuple) else (value,))]
    weights = list(at_work[0].parameters()) if at_work is not None else []
    births = [crash.stage.births[one] for one in [*tensors, *weights] if isinstance(one, Tensor)]
    return [birth for birth in births if birth is not None]
