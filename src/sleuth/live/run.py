"""Run a program under the watch, and turn what happened into a report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from sleuth import program
from sleuth.findings import Report, exit_status
from sleuth.live import exits, sight
from sleuth.live.bundle.pack import Keeper
from sleuth.live.expectations import said
from sleuth.live.line import hush, note
from sleuth.live.ranks import rank
from sleuth.live.ranks.party import Party
from sleuth.live.record import Record
from sleuth.live.sight import Watched
from sleuth.live.status import Status
from sleuth.live.stop import Stop
from sleuth.live.tensorboard import EventFiles
from sleuth.live.watch import EXPERIMENTS, Watch
from sleuth.program import Ending, Program


def run(
    subject: Program,
    *,
    keep_going: bool = False,
    record: Path | None = None,
    ignore: Collection[str] = (),
    experiments: float = EXPERIMENTS,
    bundle: bool = True,
    tensorboard: Path | None = None,
    status: bool = False,
    quiet: bool = False,
    expect: Collection[Mapping[str, Any]] = (),
    publish: Callable[[Report, Watched], object] = lambda report, watched: None,
) -> Report:
    """Run the program, watched. `record` is the folder under which the run is written down, and with `bundle` the first
    step that fails, too; `tensorboard` one for event files. `status` shows how it goes, `quiet` says nothing before the
    report. `expect` are the settings of `expectations.said`. `publish` gets the report and how much was seen;
    of several ranks, one publishes that of all.
    Raises NoTensorBoard, and CannotExpect for an expectation that cannot be read."""
    for one in expect:
        said(**one)
    hush(quiet)
    events = EventFiles(tensorboard) if tensorboard is not None and rank() == 0 else None
    party = Party(record, subject.name, keep_going, ignore, expect, experiments, quiet)
    book = _open_record(party, subject)
    if book is not None and events is not None:
        book.also.append(events)
    # Ranks that are not to be recorded still meet in a folder, which is cleared away at the end.
    stays = book if record is not None else None
    keeper = Keeper(stays.folder, subject, stays.bundle) if stays is not None and bundle else None
    watch = Watch(
        keep_going=keep_going,
        ignore=ignore,
        record=book,
        program=subject.name,
        experiments=experiments,
        keeper=keeper,
    )
    line = Status(lambda: len(watch.findings)) if status and rank() == 0 else None
    if line is not None:
        watch.listen(line.values)
    closing = _Closing(subject, watch, party, book, stays, keeper, events, line, publish)
    watch.start()
    with exits.told_of(closing.close):
        ending = _run(subject, party)
        with exits.unhurried(watch.hurry):
            return closing.close(ending)


def _run(subject: Program, party: Party) -> Ending:
    try:
        with party.gathered():
            ending = program.run(subject)
            if ending.error is None:
                exits.wait_for_threads()
                party.wait_for_children()
            return ending
    except KeyboardInterrupt as error:
        return Ending(130, error)


class _Closing:
    """The end of the run, whoever brings it about: the report is made once."""

    def __init__(
        self,
        subject: Program,
        watch: Watch,
        party: Party,
        book: Record | None,
        stays: Record | None,
        keeper: Keeper | None,
        events: EventFiles | None,
        line: Status | None,
        publish: Callable[[Report, Watched], object],
    ) -> None:
        self._subject, self._watch, self._party = subject, watch, party
        self._book, self._stays, self._keeper, self._events, self._line = book, stays, keeper, events, line
        self._publish = publish
        self._report: Report | None = None

    def close(self, ending: Ending, how: str = "") -> Report:
        """`how` it ended, where that is not to be seen from the exception."""
        if self._report is None:
            self._end_watch(ending)
            if self._party.were_stopped() and ending.error is not None:
                ending = Ending(0, Stop())
            self._tell(ending, how or self._party.how(_told(ending)))
        assert self._report is not None
        return self._report

    def _end_watch(self, ending: Ending) -> None:
        if self._line is not None:
            self._line.close()
        self._watch.end(ending.error)
        if self._keeper is not None:
            self._keeper.close()

    def _tell(self, ending: Ending, how: str) -> None:
        watch, party = self._watch, self._party
        stopped = isinstance(ending.error, Stop)
        its_own = 0 if stopped else ending.status
        found = tuple(watch.findings)
        own = Report("run", self._subject.name, found, exit=its_own or exit_status(found) or int(stopped))
        self._report = own
        steps, in_words = party.steps(watch.steps)
        seen = sight.watched(watch, steps, party.unseen())
        if self._book is not None:
            self._book.end(own.exit, how, watch.steps, seen.why)
        if self._events is not None:
            self._events.close()
        merged = party.report(own)
        if merged is None:
            return
        self._report = merged
        _say_goodbye(watch, merged, how, self._stays, seen, in_words)
        for path in self._keeper.kept() if self._keeper is not None else ():
            note(f"the step that failed is kept; re-create it with: sleuth replay {program.shown_path(str(path))}")
        self._publish(merged, seen)
        party.close()


def _open_record(party: Party, subject: Program) -> Record | None:
    if party.root is None:
        return None
    try:
        return Record(party.root, subject.name, subject.arguments, **party.place())
    except OSError as error:
        print(f"sleuth: this run is not recorded: {error.strerror}: {party.root}", file=sys.stderr)
        return None


def _told(ending: Ending) -> str:
    """Show what the program's end would have shown without Sleuth, and say in a word how it was."""
    error = ending.error
    if error is None:
        return "ended"
    if isinstance(error, Stop):
        return "stopped by Sleuth"
    if isinstance(error, SystemExit):
        return "ended"
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    error = program.without_our_frames(error)
    sys.excepthook(type(error), error, error.__traceback__)
    return f"raised {type(error).__name__}"


def _say_goodbye(watch: Watch, report: Report, how: str, book: Record | None, seen: Watched, steps: str) -> None:
    """One quiet line where there is no report to read. It never reads like a clean bill where nothing was looked at."""
    if report.findings and how != "interrupted" and not watch.skipped:
        return
    ended = "" if how == "ended" else f", {how}"
    where = f" · {program.shown_path(str(book.folder))}" if book is not None else ""
    found = f"{len(report.findings)} found" if report.findings else "nothing found"
    skipped = f", {watch.skipped:,} poisoned updates skipped" if watch.skipped else ""
    if seen.why is None:
        said = f"{found} in {steps}{skipped}"
    elif seen.steps:
        said = f"{found} in the {steps} that were watched; {seen.why}"
    else:
        said = f"no training was seen, so nothing is known about it: {seen.why}"
    note(f"{said}{ended}{where}")
