"""Run a program under the watch, and turn what happened into a report."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path

from sleuth import program
from sleuth.findings import Report, exit_status
from sleuth.live.record import Record
from sleuth.live.stop import Stop
from sleuth.live.watch import EXPERIMENTS, Watch
from sleuth.program import Ending, Program


def run(
    subject: Program,
    *,
    keep_going: bool = False,
    record: Path | None = None,
    ignore: Collection[str] = (),
    experiments: float = EXPERIMENTS,
) -> Report:
    """Run the program, watched. `record` is the folder under which the run is written down."""
    book = _open_record(record, subject.name)
    watch = Watch(keep_going=keep_going, ignore=ignore, record=book, program=subject.name, experiments=experiments)
    watch.start()
    ending = Ending(1)
    try:
        ending = program.run(subject)
    finally:
        watch.end(ending.error)
    how = _told(ending)
    status = ending.status if not isinstance(ending.error, Stop) else 0
    report = Report("run", subject.name, tuple(watch.findings), exit=status or exit_status(tuple(watch.findings)))
    if book is not None:
        book.end(report.exit, how, watch.steps)
    _say_goodbye(watch, how, book)
    return report


def _open_record(root: Path | None, name: str) -> Record | None:
    if root is None:
        return None
    try:
        return Record(root, name)
    except OSError as error:
        print(f"sleuth: this run is not recorded: {error.strerror}: {root}", file=sys.stderr)
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


def _say_goodbye(watch: Watch, how: str, book: Record | None) -> None:
    """One quiet line where there is no report to read."""
    if watch.errors or (watch.findings and how != "interrupted" and not watch.skipped):
        return
    found = f"{len(watch.findings)} found" if watch.findings else "nothing found"
    skipped = f", {watch.skipped:,} poisoned updates skipped" if watch.skipped else ""
    ended = "" if how == "ended" else f", {how}"
    where = f" · {book.folder}" if book is not None else ""
    print(f"sleuth: {found} in {watch.steps:,} steps{skipped}{ended}{where}", file=sys.stderr)
