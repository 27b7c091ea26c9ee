"""The expectations of a run: those said before it began, those said while it goes on; each is told at most once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link, Place
from sleuth.live.expectations.claims import Breach, Reaches
from sleuth.live.line import note
from sleuth.live.stop import Stop

if TYPE_CHECKING:
    from sleuth.live.expectations.expectation import Expectation
    from sleuth.live.record import Record

# Said while no watch was on: the next one takes them up.
_waiting: list[Expectation] = []
_boards: list[Expectations] = []


def say(expectation: Expectation) -> None:
    """As a statement: to the watch that is on, else to the next one."""
    if _boards:
        _boards[-1].add(expectation)
    else:
        _waiting.append(expectation)


def unsay(expectation: Expectation) -> None:
    """It turned out to be a block or a decorator."""
    if expectation in _waiting:
        _waiting.remove(expectation)
    for one in _boards:
        one.forget(expectation)


class Whereabouts:
    """What the board may ask of the framework's side; here: nothing is known."""

    def made(self, name: str) -> Place | None:
        """Where the layer or tensor of this name is made."""
        return None

    def stepped(self) -> Place | None:
        """Where the step's gradients are computed."""
        return None


class Expectations:
    """Takes the values of a run and tells what they break."""

    def __init__(self, tell: Callable[[Finding], bool]) -> None:
        self.whereabouts = Whereabouts()
        self._tell = tell
        self._all: list[Expectation] = []
        self._record: Record | None = None
        self._step = 0

    def begin(self, record: Record | None) -> None:
        self._record = record
        _boards.append(self)
        for expectation in _waiting:
            self.add(expectation)
        _waiting.clear()

    def abandon(self) -> None:
        """Another board is to take this one's place: nothing is judged here."""
        self._all.clear()
        if self in _boards:
            _boards.remove(self)

    def finish(self) -> None:
        """The run has ended: what waited for its end is judged, what was too short to judge is said."""
        for expectation in list(self._all):
            self.remove(expectation)
        if self in _boards:
            _boards.remove(self)

    def add(self, expectation: Expectation) -> None:
        self._all.append(expectation)
        if self._record is not None:
            self._record.expectation(expectation.says, expectation.place)

    def forget(self, expectation: Expectation) -> None:
        self._all = [one for one in self._all if one is not expectation]

    def remove(self, expectation: Expectation) -> None:
        """Its time is over."""
        if any(one is expectation for one in self._all):
            self.forget(expectation)
            claim = expectation.claim
            breach = claim.end(self._step) if expectation.measured else None
            if breach is not None:
                self._broken(expectation, breach)
            elif not expectation.measured:
                note(f"not decided, nothing in this run measured it: {expectation.says}")
            elif isinstance(claim, Reaches) and claim.open:
                note(f"not decided, the run was shorter than {claim.within:,} steps: {expectation.says}")

    @property
    def any(self) -> bool:
        return bool(self._all)

    def asked_for(self, value: str) -> list[Expectation]:
        """Those whose claim is about this value: what nobody asks for need not be measured."""
        return [one for one in self._all if one.claim.subject.value == value]

    def want_layers(self, step: int) -> bool:
        return bool(self._all) and any(
            one.claim.subject.layer is not None and one.is_due(step) for one in self.asked_for("gradient norm")
        )

    def values(self, step: int, values: Mapping[str, float]) -> None:
        self._step = max(self._step, step)
        if not self._all:
            return
        for expectation in list(self._all):
            if not expectation.measured:
                expectation.measured = expectation.claim.subject.is_measured(values)
            if step < expectation.warmup or (expectation.every and not expectation.is_due(step)):
                continue
            breach = expectation.claim.see(step, values)
            if breach is not None:
                self._broken(expectation, breach)
                if expectation.stop:
                    raise Stop

    def _broken(self, expectation: Expectation, breach: Breach) -> None:
        self.forget(expectation)
        finding = self._finding(expectation, breach)
        if self._tell(finding):
            expectation.finding = finding

    def _finding(self, expectation: Expectation, breach: Breach) -> Finding:
        made = self.whereabouts.made(breach.name)
        stepped = self.whereabouts.stepped()
        subject = expectation.claim.subject
        of_layer = subject.layer is not None and subject.value != "tensor"
        numbers = [(f"{subject.value} of {breach.name}" if of_layer else breach.name, breach.value)]
        numbers.append(("limit", breach.limit))
        chain = [Link(f"expected: {expectation.says}", expectation.place), Link(breach.says, stepped)]
        if made is not None:
            chain.append(Link(f"{breach.name} is made here", made))
        return handbook.finding(
            "broken-expectation",
            title=f"expected: {expectation.says}; but {breach.says}",
            place=made or expectation.place or stepped,
            step=breach.step,
            certainty="certain",
            severity="error",
            evidence=tuple(Evidence(name, value) for name, value in numbers if value is not None),
            chain=tuple(chain),
            fixes=(Fix("see what else was found in this run, and `sleuth view` for the curve"),),
        )
