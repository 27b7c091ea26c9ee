"""A watch that a trainer's callback begins when it is made, and ends with the training or with the program."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Collection
from pathlib import Path

from sleuth.findings import Finding, Report
from sleuth.integrations import showing
from sleuth.live import EXPERIMENTS, Watch
from sleuth.live.record import Record
from sleuth.live.watch import active


class Session:
    """Begun early, so that models and optimisers made afterwards are known by their lines. Inside `sleuth run` or
    `sleuth.watch()` it leaves everything to them."""

    def __init__(
        self,
        *,
        keep_going: bool = False,
        ignore: Collection[str] = (),
        experiments: float = EXPERIMENTS,
        record: str | Path | None = None,
    ) -> None:
        """As for `sleuth.watch`."""
        self.findings: list[Finding] = []
        self._record = record
        self.keep_going = keep_going
        self._ignore = ignore
        self._experiments = experiments
        self._watch: Watch | None = None
        self.begin()

    def begin(self) -> Watch:
        """Again for each training, where the one before has ended."""
        if self._watch is not None:
            return self._watch
        program = os.path.basename(sys.argv[0]) or "<python>"
        book = None
        if self._record is not None and active() is None:
            book = Record(Path(self._record), program, sys.argv[1:])
        # Where a trainer can be asked to stop, nothing needs to be raised: updates are held back until it does.
        self._watch = Watch(
            program=program,
            keep_going=True,
            ignore=self._ignore,
            experiments=self._experiments,
            record=book,
            show=_print,
            all_is_well=showing.say_all_is_well,
        )
        self._watch.start()
        self.findings = self._watch.host.findings
        atexit.register(self._end_with_program)
        return self._watch

    @property
    def should_stop(self) -> bool:
        """Has a number gone bad, so that going on is pointless?"""
        watch = self._watch
        return watch is not None and watch.host is watch and watch.went_bad and not self.keep_going

    def end(self, error: BaseException | None = None) -> None:
        """`error` is what ended the training, where something did."""
        watch, self._watch = self._watch, None
        if watch is not None:
            atexit.unregister(self._end_with_program)
            watch.__exit__(type(error), error, None)

    def _end_with_program(self) -> None:
        self.end(getattr(sys, "last_value", None))


def _print(found: Report) -> None:
    showing.show(found, sys.stderr)
