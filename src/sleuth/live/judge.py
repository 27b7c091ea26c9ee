"""Asks the rules what they make of a run: at a few moments, causes before symptoms. Knows signals, no framework."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from sleuth.findings import Finding
from sleuth.live import rules
from sleuth.live.signals import Crash, Run

# The rules are asked when this many steps are done, then every so many, and at the end.
_CHECKPOINTS = (8, 32, 128, 256, 512)
_EVERY = 512
# Once a number went bad, that explains what curves and weights look like; wiring and labels are still worth a word.
_LAST_TIER_AFTER_A_STOP = 1.9


class Judge:
    """`tell` takes a finding and answers False where the user silenced it. `within` is entered around the asking."""

    def __init__(
        self,
        run: Run,
        tell: Callable[[Finding], bool],
        within: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self._run = run
        self._tell = tell
        self._within = within
        self._told: set[str] = set()
        self._tier = math.inf
        self._next = 0

    def stepped(self) -> None:
        """A step is done."""
        step = self._run.step
        if step < _CHECKPOINTS[self._next]:
            return
        if self._next < len(_CHECKPOINTS) - 1:
            self._next += 1
        elif step % _EVERY:
            return
        self.ask()

    def finish(self, crash: Crash | None = None, stopped: bool = False) -> None:
        """The program has ended: well, with an error, or because a number went bad."""
        self._run.ended = True
        self._run.crash = crash
        if stopped:
            self._tier = min(self._tier, _LAST_TIER_AFTER_A_STOP)
        self.ask()

    def ask(self) -> None:
        """None of the later tiers once a cause is known: they would describe its consequences."""
        with self._within():
            for tier, diagnosis, rule in rules.in_order():
                if tier > self._tier or diagnosis in self._told:
                    continue
                finding = rule.look(self._run)
                if finding is None:
                    continue
                self._told.add(diagnosis)
                if self._tell(finding) and finding.severity != "note":
                    self._tier = min(self._tier, tier)
