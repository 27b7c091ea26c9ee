"""What may be claimed of a run's values. A claim sees values by name, step by step, and says when it is broken."""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Protocol

# A single step's loss is noise: a fall is judged by the mean of this many values against the mean of the first few.
_SMOOTH = 8
_FIRST = 4
# Growth is told by the medians of two windows of this many values.
_WINDOW = 16
_SLACK_BYTES = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Breach:
    """How a claim was broken, and by which value."""

    step: int
    says: str
    # The layer or value that broke it; its number, where that says something.
    name: str
    value: float | None = None
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """The values a claim is about: one by its name, or those of layers, by a pattern."""

    value: str
    layer: str | None = None

    def among(self, values: Mapping[str, float]) -> Iterator[tuple[str, float]]:
        if self.layer is None:
            if self.value in values:
                yield self.value, values[self.value]
            return
        for name, value in values.items():
            kind, slash, layer = name.partition("/")
            if slash and kind in (self.value, f"{self.value} low", f"{self.value} high") and is_of(layer, self.layer):
                yield layer, value

    def is_measured(self, values: Mapping[str, float]) -> bool:
        """Is there any value of this kind, be it of another layer?"""
        if self.layer is None or not self.value:
            return self.value in values or not self.value
        if self.value == "tensor":
            return any(True for _ in self.among(values))
        return any(name.startswith(f"{self.value}/") for name in values)


def is_of(name: str, layer: str) -> bool:
    """Is this parameter the layer's, or a part of it? A layer may be given by a pattern such as `blocks.*.mlp`."""
    return fnmatchcase(name, layer) or fnmatchcase(name, f"{layer}.*")


class Claim(Protocol):
    """`see` is called with the values of each step that is to be checked; `end` when there are no more."""

    subject: Subject

    def see(self, step: int, values: Mapping[str, float]) -> Breach | None: ...

    def end(self, step: int) -> Breach | None: ...


@dataclass(slots=True)
class Bounded:
    """Every value lies within limits; `tolerance` widens them by a share of themselves."""

    subject: Subject
    low: float = -math.inf
    high: float = math.inf
    tolerance: float = 0.0

    def see(self, step: int, values: Mapping[str, float]) -> Breach | None:
        for name, value in self.subject.among(values):
            if math.isnan(value):
                return Breach(step, f"{name} was NaN", name, value)
            if value > self.high + self.tolerance * abs(self.high):
                return Breach(step, f"{name} reached {value:.4g}", name, value, self.high)
            if value < self.low - self.tolerance * abs(self.low):
                return Breach(step, f"{name} fell to {value:.4g}", name, value, self.low)
        return None

    def end(self, step: int) -> Breach | None:
        return None


@dataclass(slots=True)
class Reaches:
    """The value comes to some level within so many steps: a share of its start, or a number."""

    subject: Subject
    within: int
    share: float | None = None
    level: float | None = None
    upwards: bool = False
    tolerance: float = 0.0
    reached: bool = False
    _first_step: int = -1
    _first: list[float] = field(default_factory=list)
    _last: deque[float] = field(default_factory=lambda: deque(maxlen=_SMOOTH))

    def see(self, step: int, values: Mapping[str, float]) -> Breach | None:
        if self.reached or self.subject.value not in values:
            return None
        value = values[self.subject.value]
        if self._first_step < 0:
            self._first_step = step
        if len(self._first) < _FIRST:
            self._first.append(value)
        self._last.append(value)
        goal = self._goal()
        now = statistics.fmean(self._last)
        slack = self.tolerance * abs(goal)
        enough = len(self._last) == _SMOOTH or step - self._first_step + 1 >= self.within
        if enough and (now >= goal - slack if self.upwards else now <= goal + slack):
            self.reached = True
        elif step - self._first_step + 1 >= self.within:
            return self._missed(step, now, goal)
        return None

    def _goal(self) -> float:
        if self.level is not None:
            return self.level
        assert self.share is not None
        return self.share * statistics.fmean(self._first)

    def _missed(self, step: int, now: float, goal: float) -> Breach:
        self.reached = True
        start = statistics.fmean(self._first)
        name = self.subject.value
        says = f"{name} went from {start:.4g} to {now:.4g} in {self.within:,} steps, {goal:.4g} was expected"
        return Breach(step, says, name, now, goal)

    def end(self, step: int) -> Breach | None:
        return None

    @property
    def open(self) -> bool:
        """Neither reached nor missed: the run was too short to tell."""
        return not self.reached


@dataclass(slots=True)
class Steady:
    """The value does not grow: later values are not above the first by more than the tolerance."""

    subject: Subject
    tolerance: float = 0.1
    _first: list[float] = field(default_factory=list)
    _last: deque[float] = field(default_factory=lambda: deque(maxlen=_WINDOW))

    def see(self, step: int, values: Mapping[str, float]) -> Breach | None:
        for name, value in self.subject.among(values):
            if len(self._first) < _WINDOW:
                self._first.append(value)
                return None
            self._last.append(value)
            if len(self._last) < _WINDOW:
                return None
            start, now = statistics.median(self._first), statistics.median(self._last)
            slack = _SLACK_BYTES if self.subject.value == "memory bytes" else 0.0
            if now > start + self.tolerance * abs(start) + slack and min(self._last) > max(self._first):
                says = f"{name} grew from {_amount(name, start)} to {_amount(name, now)}"
                return Breach(step, says, name, now, start)
        return None

    def end(self, step: int) -> Breach | None:
        return None


@dataclass(slots=True)
class Unchanged:
    """Weights stay what they were, bit by bit: their checksums never change."""

    subject: Subject
    _first: dict[str, float] = field(default_factory=dict)

    def see(self, step: int, values: Mapping[str, float]) -> Breach | None:
        for name, value in self.subject.among(values):
            if self._first.setdefault(name, value) != value:
                return Breach(step, f"{name} changed", name)
        return None

    def end(self, step: int) -> Breach | None:
        return None if self._first else _never_seen(self.subject, step)


@dataclass(slots=True)
class Changes:
    """All weights of a part of the model change within so many steps."""

    subject: Subject
    within: int = 0
    _first: dict[str, float] = field(default_factory=dict)
    _waiting: set[str] = field(default_factory=set)
    _first_step: int = -1

    def see(self, step: int, values: Mapping[str, float]) -> Breach | None:
        for name, value in self.subject.among(values):
            if name not in self._first:
                self._first[name] = value
                self._waiting.add(name)
            elif self._first[name] != value:
                self._waiting.discard(name)
        if self._first and self._first_step < 0:
            self._first_step = step
        if self.within and self._waiting and self._first_step >= 0 and step - self._first_step >= self.within:
            return self._stood_still(step)
        return None

    def _stood_still(self, step: int) -> Breach:
        name = min(self._waiting)
        more = f" (and {len(self._waiting) - 1} more)" if len(self._waiting) > 1 else ""
        return Breach(step, f"{name}{more} did not change in {step - self._first_step:,} steps", name)

    def end(self, step: int) -> Breach | None:
        if not self._first:
            return _never_seen(self.subject, step)
        if not self.within and self._waiting and step > self._first_step:
            return self._stood_still(step)
        return None


@dataclass(slots=True)
class BeatsChance:
    """The accuracy gets above what naming the most frequent class would give, by more than luck."""

    subject: Subject
    within: int = 0
    tolerance: float = 0.0
    _first_step: int = -1
    _last: deque[tuple[float, float, float]] = field(default_factory=lambda: deque(maxlen=_SMOOTH))
    _done: bool = False

    def see(self, step: int, values: Mapping[str, float]) -> Breach | None:
        if self._done or self.subject.value not in values:
            return None
        if self._first_step < 0:
            self._first_step = step
        self._last.append(
            (values[self.subject.value], values[f"{self.subject.value} by chance"], values["samples for accuracy"])
        )
        if not self.within or step - self._first_step + 1 < self.within:
            return None
        self._done = True
        return self._verdict(step)

    def _verdict(self, step: int) -> Breach | None:
        accuracy = statistics.fmean(a for a, _, _ in self._last)
        chance = statistics.fmean(c for _, c, _ in self._last)
        # On one and the same batch, looking again does not make the luck smaller.
        samples = (
            max(n for _, _, n in self._last) if "batch" in self.subject.value else sum(n for _, _, n in self._last)
        )
        luck = 2 * math.sqrt(max(chance * (1 - chance), 0.0) / samples)
        if accuracy > min(chance + luck, 0.999) * (1 - self.tolerance):
            return None
        says = f"accuracy was {accuracy:.1%}; naming the most frequent class gives {chance:.1%}"
        return Breach(step, says, self.subject.value, accuracy, chance)

    def end(self, step: int) -> Breach | None:
        if self._done or self.within or not self._last:
            return None
        return self._verdict(step)


@dataclass(slots=True)
class Holds:
    """A question of the user's own, asked of the newest values."""

    question: Callable[[Mapping[str, float]], bool]
    subject: Subject = field(default_factory=lambda: Subject(""))
    _newest: dict[str, float] = field(default_factory=dict)

    def see(self, step: int, values: Mapping[str, float]) -> Breach | None:
        self._newest.update(values)
        try:
            held = self.question(self._newest)
        except KeyError:
            # A value that is not there yet.
            return None
        if held:
            return None
        return Breach(step, "it did not hold", "loss", self._newest.get("loss"))

    def end(self, step: int) -> Breach | None:
        return None


def _never_seen(subject: Subject, step: int) -> Breach:
    return Breach(step, f"no parameter is called {subject.layer}", subject.layer or subject.value)


def _amount(name: str, value: float) -> str:
    return f"{value / 2**20:,.0f} MB" if name == "memory bytes" else f"{value:.4g}"
