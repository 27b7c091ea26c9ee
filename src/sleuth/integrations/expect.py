"""`sleuth.expect("the loss falls by half within 200 steps")`: as a statement, a `with` block or a decorator."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import ContextDecorator
from typing import Any

from sleuth import report as reports
from sleuth.findings import Finding, Report
from sleuth.live.expectations import Expectation, said
from sleuth.live.stop import Stop
from sleuth.live.watch import Watch
from sleuth.program import users_place


class ExpectationBroken(AssertionError):
    """What was expected of a training did not hold. `findings` tell where, and what else was found."""

    def __init__(self, report: Report) -> None:
        self.findings = report.findings
        super().__init__("\n" + reports.render(report, "terminal", colour=False).rstrip())


class Expected(ContextDecorator):
    """As a statement it is done with; entered, or as a decorator, it is checked inside alone, by a watch of its own
    where none is on."""

    def __init__(self, make: Callable[[], list[Expectation]]) -> None:
        self._make = make
        self._expectations = make()
        self._watch: Watch | None = None

    @property
    def findings(self) -> list[Finding]:
        """How it was broken so far."""
        return [one.finding for one in self._expectations if one.finding is not None]

    def __call__(self, function: Any) -> Any:
        self._take_back()
        return super().__call__(function)

    def _recreate_cm(self) -> Expected:
        """Each call of a decorated function is a run of its own."""
        return Expected(self._make)

    def _take_back(self) -> None:
        for expectation in self._expectations:
            expectation.take_back()

    def __enter__(self) -> Expected:
        self._take_back()
        self._watch = Watch(show=_show_nothing)
        self._watch.start()
        for expectation in self._expectations:
            self._watch.host.expectations.add(expectation)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        watch = self._watch
        assert watch is not None
        for expectation in self._expectations:
            watch.host.expectations.remove(expectation)
        alone = watch.host is watch
        watch.end(error)
        stopped = isinstance(error, Stop) and alone
        if error is not None and not stopped:
            return
        # What else was found says why.
        found = watch.findings if alone else self.findings
        if self.findings or (stopped and found):
            raise ExpectationBroken(Report("run", watch.program, tuple(found))) from None


def expect(
    *sentences: str,
    holds: Callable[[Mapping[str, float]], bool] | None = None,
    every: int | None = None,
    warmup: int | None = None,
    tolerance: float | None = None,
    batch: Any = None,
    model: Any = None,
    stop: bool = False,
) -> Expected:
    """Say what should be true of a training run, in words: `expect("the loss falls by half within 200 steps")`.

    As a statement it is checked from there on by the watch that is on (`sleuth run`, `sleuth.watch()`); as a `with`
    block or a decorator it is checked inside, and ExpectationBroken is raised at the end (at once with `stop`).

    every      check every so many steps (default: each step, or what is cheap)
    warmup     steps before the first check
    tolerance  the share by which a limit may be overstepped
    holds      a question of your own, asked of the values by name: `holds=lambda v: v["loss"] > 0`
    batch      (inputs, labels) and `model`: what "accuracy on this batch" is measured on

    Raises ValueError for a sentence that cannot be read."""
    if not sentences:
        raise ValueError("say what to expect, e.g. sleuth.expect('the loss falls by half within 200 steps')")
    place = users_place(sys._getframe(1))

    def make() -> list[Expectation]:
        return [
            said(
                sentence,
                place,
                holds=holds,
                every=every,
                warmup=warmup,
                tolerance=tolerance,
                batch=batch,
                model=model,
                stop=stop,
            )
            for sentence in sentences
        ]

    return Expected(make)


def _show_nothing(report: Report) -> None:
    """What was found is told by the error."""
