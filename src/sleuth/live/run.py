"""Run a program under the watch, and turn what happened into a report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from sleuth import program
from sleuth.findings import Report, exit_status
from sleuth.live.bundle.pack import Keeper
from sleuth.live.expectations import said
from sleuth.live.line import say
from sleuth.live.ranks import rank
from sleuth.live.ranks.party import Party
from sleuth.live.record import Record
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
    expect: Collection[Mapping[str, Any]] = (),
    publish: Callable[[Report], object] = lambda report: None,
) -> Report:
    """Run the program, watched. `record` is the folder under which the run is written down, and with `bundle` the first
    step that fails, too; `tensorboard` one for event files. `status` shows how it goes. `expect` are the
    settings of `expectations.said`. `publish` gets the report; of several ranks, one publishes that of all.
    Raises NoTensorBoard, and CannotExpect for an expectation that cannot be read."""
    for one in expect:
        said(**one)
    events = EventFiles(tensorboard) if tensorboard is not None and rank() == 0 else None
    party = Party(record, subject.name, keep_going, ignore, expect)
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
    watch.start()
    ending = Ending(1)
    try:
        with party.gathered():
            ending = program.run(subject)
            if ending.error is None:
                party.wait_for_children()
    finally:
        if line is not None:
            line.close()
        watch.end(ending.error)
        if keeper is not None:
            keeper.close()
    if party.were_stopped() and ending.error is not None:
        ending = Ending(0, Stop())
    how = party.how(_told(ending))
    its_own = 0 if isinstance(ending.error, Stop) else ending.status
    found = tuple(watch.findings)
    stopped = isinstance(ending.error, Stop)
    report = Report("run", subject.name, found, exit=its_own or exit_status(found) or int(stopped))
    if book is not None:
        book.end(report.exit, how, watch.steps)
    if events is not None:
        events.close()
    merged = party.report(report)
    if merged is None:
        return report
    _say_goodbye(watch, merged, how, stays, party.steps(watch.steps))
    for path in keeper.kept() if keeper is not None else ():
        say(f"the step that failed is kept; re-create it with: sleuth replay {program.shown_path(str(path))}")
    publish(merged)
    party.close()
    return merged


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


def _say_goodbye(watch: Watch, report: Report, how: str, book: Record | None, steps: str) -> None:
    """One quiet line where there is no report to read."""
    if watch.errors or (report.findings and how != "interrupted" and not watch.skipped):
        return
    found = f"{len(report.findings)} found" if report.findings else "nothing found"
    skipped = f", {watch.skipped:,} poisoned updates skipped" if watch.skipped else ""
    ended = "" if how == "ended" else f", {how}"
    where = f" · {program.shown_path(str(book.folder))}" if book is not None else ""
    print(f"sleuth: {found} in {steps}{skipped}{ended}{where}", file=sys.stderr)
