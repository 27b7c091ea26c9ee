"""Watching a run from its beginning to its end: `sleuth run` for scripts, `with sleuth.watch():` from code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Collection
from contextlib import ContextDecorator, suppress
from pathlib import Path
from typing import Any

from sleuth.findings import Finding, Report
from sleuth.live.record import Record
from sleuth.live.stop import Stop
from sleuth.live.taps import AfterImport, Taps
from sleuth.program import silenced

_active: Watch | None = None
# Seconds that experiments on a copy of the model may take, all together.
EXPERIMENTS = 20.0


class Watch(ContextDecorator):
    """Watches all training that goes on in this process while it is entered.

    Trouble ends the `with` block early, unless `keep_going` is set: then the poisoned update is skipped and training
    goes on. Either way the findings are in `findings`, `report` has them as a Report, and `show` is called with it."""

    def __init__(
        self,
        *,
        keep_going: bool = False,
        ignore: Collection[str] = (),
        record: Record | None = None,
        program: str = "<python>",
        show: Callable[[Report], object] | None = None,
        experiments: float = EXPERIMENTS,
    ) -> None:
        self.findings: list[Finding] = []
        self.errors: list[Exception] = []
        self.program = program
        self._keep_going = keep_going
        self._ignore = frozenset(ignore)
        self._record = record
        self._show = show
        self._experiments = experiments
        self._story: Any = None
        self._learning: Any = None
        self._taps: list[Any] = []
        self._import = AfterImport(self._torch_is_here)
        self._inner = False
        self._late_comer = False
        self._ending = False
        self._went_bad = False

    @property
    def report(self) -> Report:
        return Report("run", self.program, tuple(self.findings))

    @property
    def steps(self) -> int:
        """How many optimiser steps were completed."""
        return self._story.step if self._story is not None else 0

    @property
    def skipped(self) -> int:
        """How many poisoned updates were held back."""
        return self._story.skipped if self._story is not None else 0

    def start(self) -> None:
        global _active
        if _active is not None:
            # Already watched, e.g. a script with its own `watch()` under `sleuth run`: one watcher is enough.
            self._inner = True
            return
        _active = self
        self._late_comer = "torch" in sys.modules
        self._import.install()

    def end(self, error: BaseException | None = None) -> None:
        """`error` is what ended the program, where something did."""
        global _active
        if self._inner:
            return
        _active = None
        self._import.remove()
        self._remove_taps()
        if self._story is not None:
            with suppress(Stop):
                self._story.finish()
            self._story.switch_off()
        if self._learning is not None:
            self._ending = True
            self._learning.finish(error, self._went_bad)

    def _remove_taps(self) -> None:
        for taps in self._taps:
            taps.remove()
        self._taps = []

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        self.end(error)
        if self._inner:
            return False
        if self.findings and self._show is not None:
            self._show(self.report)
        return isinstance(error, Stop)

    def _torch_is_here(self) -> None:
        try:
            from sleuth.live.both import Both
            from sleuth.live.learning.listener import Learning
            from sleuth.live.learning.taps import WiringTaps
            from sleuth.live.nonfinite import NonFinite

            write = self._record.step if self._record is not None else _write_nothing
            self._story = NonFinite(self._deliver, self._failed, write, self._keep_going)
            self._learning = Learning(self._tell, self._failed, self._experiments)
            both = Both(self._story, self._learning)
            self._story.wrote = both.heard(write)
            self._learning.muted = both.muted
            self._taps = [Taps(both), WiringTaps(self._learning)]
            for taps in self._taps:
                taps.install()
            if self._late_comer:
                self._story.look_around()
        except Exception as error:
            self._failed(error)

    def _deliver(self, finding: Finding) -> bool:
        """A number went bad: the run is not worth going on with."""
        if not self._keep(finding):
            return False
        self._went_bad = True
        if not self._keep_going:
            raise Stop
        return True

    def _tell(self, finding: Finding) -> bool:
        """The network learns badly, or not at all: said at once, and the program goes on."""
        if not self._keep(finding):
            return False
        if not self._ending and self._show is None:
            at = f"{finding.place.path}:{finding.place.line}: " if finding.place is not None else ""
            print(f"sleuth: {at}{finding.title} [{finding.diagnosis}]; more when the program ends", file=sys.stderr)
        return True

    def _keep(self, finding: Finding) -> bool:
        if silenced(finding, self._ignore):
            return False
        if not any((f.diagnosis, f.place) == (finding.diagnosis, finding.place) for f in self.findings):
            self.findings.append(finding)
            if self._record is not None:
                self._record.finding(finding)
        return True

    def _failed(self, error: Exception) -> None:
        """An error of ours: said once, and the program goes on unwatched."""
        self.errors.append(error)
        self._remove_taps()
        for listener in (self._story, self._learning):
            if listener is not None and not listener.off:
                listener.switch_off()
        where = traceback.extract_tb(error.__traceback__)[-1] if error.__traceback__ else None
        at = f" ({Path(where.filename).name}:{where.lineno})" if where else ""
        print(
            f"sleuth: an error inside Sleuth{at}: {type(error).__name__}: {error}; your program goes on unwatched",
            file=sys.stderr,
        )
        if os.environ.get("SLEUTH_DEBUG"):
            traceback.print_exception(error)


def _write_nothing(step: int, loss: float, gradient_norm: float) -> None:
    """For a run that is not recorded."""
