"""Fixes that are changes of the source: each is made in a copy of the process, which repeats the step with it."""

from __future__ import annotations

import difflib
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol

from torch import Tensor

from sleuth.findings import Edit, Evidence, Finding, Fix
from sleuth.live.mending import fork
from sleuth.live.mending.expressions import read
from sleuth.live.mending.fork import Copy
from sleuth.live.mending.in_force import InForce
from sleuth.live.mending.proposals import Proposal
from sleuth.live.numbers import is_finite
from sleuth.program import shown_path

# A step that takes longer is not tried.
_SECONDS = 10.0
# A step that is mended may only put the trouble off: the copy trains on for a while.
_STEPS_ON, _SECONDS_ON = 200, 3.0
# How many operations of one step are mended together: each is found only once the one before it is.
_TOGETHER = 4
# A small number that is added changes a loss a little, a wrong one much.
_SAME_LOSS = 0.01
IN_VAIN = "tried in vain"


class Told(Protocol):
    """A finding, and what could mend it."""

    @property
    def finding(self) -> Finding: ...
    def proposals(self) -> list[Proposal]: ...


class Mender:
    """Tries out what could mend a finding. `trial` is there in a copy only."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self.trial: Trial | None = None

    def mended(self, told: Told, begin: Callable[[Trial], object], loss: float | None) -> Finding | None:
        """The finding with what the trials say of its fixes. None in a copy: the program is to go on there, and `begin`
        has arranged for the step to be repeated. `loss` is what the step's loss was."""
        if self._left <= 0 or not fork.can_copy():
            return told.finding
        fixes, in_vain = told.finding.fixes, set[int]()
        for proposal in told.proposals():
            outcome = self._mends(proposal, begin, loss)
            if self.trial is not None:
                return None
            if isinstance(outcome, Fix):
                others = (fix for index, fix in enumerate(fixes) if index not in {proposal.fix, *in_vain})
                return replace(told.finding, fixes=(outcome, *others))
            if outcome == "in vain":
                in_vain.add(proposal.fix)
        return _without(told.finding, in_vain)

    def _mends(
        self, proposal: Proposal, begin: Callable[[Trial], object], loss: float | None
    ) -> Fix | Literal["in vain", "not known"]:
        """The fix with which the step is finite. What is bad then is mended as well, where a check knows how."""
        titles, text = [proposal.title], proposal.text
        for _ in range(_TOGETHER):
            answer = self._tried(proposal.filename, text, begin, loss)
            if answer is None:
                return "not known"
            if answer["finite"]:
                told = ", and ".join(dict.fromkeys(titles))
                return Fix(told, _edits(proposal.filename, text), verified=True)
            more = next(((title, new) for title, new in answer["next"] if new != text), None)
            if more is None:
                break
            titles.append(more[0])
            text = more[1]
        return "in vain"

    def _tried(
        self, filename: str, text: str, begin: Callable[[Trial], object], loss: float | None
    ) -> dict[str, Any] | None:
        started = time.monotonic()
        seconds = min(self._left, _SECONDS)
        if seconds <= 0:
            return None

        def inside(copy: Copy) -> None:
            self.trial = Trial(copy, filename, text, loss)
            begin(self.trial)

        said = fork.copied(seconds, inside)
        self._left -= time.monotonic() - started
        return next((one for one in reversed(said or ()) if "finite" in one), None)


class Trial:
    """The step with an edited file, in a copy of the process."""

    def __init__(self, copy: Copy, filename: str, text: str, loss: float | None) -> None:
        self._copy = copy
        self._filename = filename
        self._loss_then = loss
        self.losses: list[float] = []
        self.ends_with_this_update = False
        self._steps_on, self._until = 0, math.inf
        self.in_force = InForce(filename, text, failed=copy.give_up)
        self.in_force.put(sys._getframe(1))

    def give_up(self, why: object = "", *also: Any) -> None:
        self._copy.give_up(why)

    def not_seen_again(self, why: str) -> None:
        """Of the step itself nothing is known then; trouble in a later one is trouble all the same."""
        if self._until == math.inf:
            self.give_up(why)
        self.bad()

    def bad(self, *what: Any) -> None:
        self._copy.answer(finite=False, next=[])

    def bad_again(self, told: Told) -> None:
        """What would mend the rest, where that is in the same file."""
        fitting = [(one.title, one.text) for one in told.proposals() if one.filename == self._filename]
        self._copy.answer(finite=False, next=fitting)

    def updated(self, parameters: Sequence[Tensor]) -> None:
        """The step is over, its update made."""
        if not all(is_finite(parameter) for parameter in parameters) or not self._is_the_same_loss():
            self.bad()
        self._copy.say(finite=True, next=[])
        self.ends_with_this_update = False
        self._until = time.monotonic() + _SECONDS_ON

    def trained_on(self) -> None:
        """One more step has gone well."""
        self._steps_on += 1
        if self._steps_on >= _STEPS_ON or time.monotonic() > self._until:
            self.give_up("it has trained on for long enough")

    def _is_the_same_loss(self) -> bool:
        """Where the loss was finite and only its gradient was not, a change that mends it leaves the loss as it was."""
        then = self._loss_then
        if then is None or not math.isfinite(then) or not self.losses:
            return True
        return abs(self.losses[-1] - then) <= _SAME_LOSS * max(1.0, abs(then))


def _edits(filename: str, text: str) -> tuple[Edit, ...]:
    """The lines that change, each whole."""
    source = read(filename)
    before = source.text.splitlines() if source is not None else []
    return tuple(_changed(shown_path(filename), before, text.splitlines()))


def _changed(path: str, before: list[str], after: list[str]) -> Iterator[Edit]:
    for what, start, end, new_start, new_end in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
        if what == "replace":
            yield Edit(path, start + 1, 1, end, len(before[end - 1]) + 1, "\n".join(after[new_start:new_end]))


def _without(finding: Finding, in_vain: set[int]) -> Finding:
    """Fixes that do not help are not told as such."""
    tried = tuple(Evidence(IN_VAIN, fix.title) for index, fix in enumerate(finding.fixes) if index in in_vain)
    left = tuple(fix for index, fix in enumerate(finding.fixes) if index not in in_vain)
    return replace(finding, fixes=left, evidence=(*finding.evidence, *tried))
