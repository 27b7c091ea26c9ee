"""Rehearses a program: once plainly, then in its corners, each in a process of its own that leaves nothing behind."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from sleuth import handbook
from sleuth.dry import control, corners, journal, last_batch, tried
from sleuth.dry.clock import Clock
from sleuth.dry.journal import Outcome
from sleuth.dry.scenario import Scenario
from sleuth.dry.spare import Player, Spare
from sleuth.findings import Edit, Evidence, Finding, Report, exit_status, place_from_json
from sleuth.frameworks import torch_private
from sleuth.program import silenced

# The exit status of a rehearsal that could not be held.
COULD_NOT = 2
# After its time is over a rehearsal says where it was; one that does not even get to that is ended from here.
_GRACE = 20.0
# All corners together may take so many CPU seconds, or so many times those of the plain rehearsal.
_CORNERS_AT_LEAST, _CORNERS_AT_MOST = 8.0, 2.0
# Where the program's standard error goes, and how much of it is told when it ends by itself.
_ERRORS, _LAST_BYTES, _LAST_LINES = "errors", 4000, 6


@dataclass
class Rehearsal:
    """What came of it: the findings, and of each re-run what it learnt, the plain one first."""

    report: Report
    plain: Outcome
    scenario: Scenario
    corners: dict[str, Outcome] = field(default_factory=dict)
    # Corners that would have taken too long beside the plain rehearsal.
    left_out: list[str] = field(default_factory=list)

    @property
    def outcomes(self) -> list[Outcome]:
        return [self.plain, *self.corners.values()]


def rehearse(
    wanted: Scenario,
    *,
    numbers: str = "auto",
    in_corners: Collection[str] | None = None,
    ignore: Collection[str] = (),
    show_output: bool = False,
    progress: Callable[[str], object] = lambda what: None,
) -> Rehearsal:
    """Rehearse the program. `numbers`: real, fake, or auto: real where affordable. `in_corners`: all if None."""
    prepare()
    with tempfile.TemporaryDirectory(prefix="sleuth-dry-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        scenario = replace(wanted, numbers="fake" if numbers == "fake" else "real")
        progress("plainly")
        plain, spare = _hold_first(scenario, scratch, show_output)
        if plain.how == "too expensive" and numbers == "auto":
            spare.close()
            scenario = replace(scenario, numbers="fake")
            progress("with fake numbers")
            plain, spare = _hold_first(scenario, scratch, show_output)
        with closing(spare):
            if control.is_needed(plain):
                progress("with nothing pretended")
                bare = control.scenario(scenario, plain)
                control.judge(plain, None if bare is None else hold(bare, scratch))
            found = _of_the_last_batch(plain, scenario, scratch, spare)
            found = tried.with_fixes_tried(found, lambda edits: _edited(edits, scenario, scratch, numbers, progress))
            found += _of_the_end(plain, scenario)
            names = corners.names() if in_corners is None else [n for n in corners.names() if n in in_corners]
            visited, left_out = _visited(
                names, scenario, plain, found, progress, partial(hold, scratch=scratch, spare=spare)
            )
    kept = tuple(finding for finding in found if not silenced(finding, ignore))
    return Rehearsal(Report("dry", wanted.target, kept, _status(plain, kept)), plain, scenario, visited, left_out)


def _status(plain: Outcome, kept: tuple[Finding, ...]) -> int:
    """2 where the program could not be rehearsed and nothing wrong was found on the way."""
    held = plain.how in ("ended", "raised")
    return exit_status(kept) or (0 if held else COULD_NOT)


def _edited(
    edits: tuple[Edit, ...], scenario: Scenario, scratch: Path, numbers: str, progress: Callable[[str], object]
) -> Outcome:
    """The rehearsal of the program with these edits made."""
    progress("with a fix")
    outcome = hold(replace(scenario, edits=edits), scratch)
    if outcome.how == "too expensive" and numbers == "auto":
        outcome = hold(replace(scenario, edits=edits, numbers="fake"), scratch)
    return outcome


def _visited(
    names: list[str],
    scenario: Scenario,
    plain: Outcome,
    found: list[Finding],
    progress: Callable[[str], object],
    hold: Callable[[Scenario], Outcome],
) -> tuple[dict[str, Outcome], list[str]]:
    """The corners that were visited, and those that would take too long. What they show is added to what was found."""
    visited: dict[str, Outcome] = {}
    left_out: list[str] = []
    spent = 0.0
    for name, scene in _visits(names, scenario, plain) if plain.how == "ended" else ():
        if spent > max(_CORNERS_AT_LEAST, plain.cpu_seconds * _CORNERS_AT_MOST):
            left_out.append(name)
            continue
        progress(corners.module(name).TITLE)
        visited[name] = outcome = hold(scene)
        spent += outcome.cpu_seconds
        found += _new(found, outcome, name)
    return visited, left_out


def prepare() -> None:
    """What every rehearsal needs, here: each starts as a copy of this process. Any optimiser needs torch._dynamo."""
    from sleuth.dry import acts, crashes, frameworks, loaders, loops, stage, watchers  # noqa: F401
    from sleuth.dry.fake import engine  # noqa: F401
    from sleuth.dry.memory import meter  # noqa: F401
    from sleuth.dry.pretend import cuda, distributed, libraries, mps  # noqa: F401
    from sleuth.dry.safe import guard  # noqa: F401

    torch_private.get("torch._dynamo")
    crashes.in_order()
    watchers.silent_kinds()


def hold(scenario: Scenario, scratch: Path, show_output: bool = False, spare: Spare | None = None) -> Outcome:
    """One rehearsal in a process of its own; a spare, where it fits, has done the imports for it."""
    if not scenario.keeps_files:
        _clear(scratch)
    path = scratch / f"{len(list(scratch.glob('*.journal')))}.journal"
    began = time.monotonic()
    player = spare.play(scenario, path) if spare is not None and spare.fits(scenario) else None
    return _awaited(player or _Child(scenario, path, scratch, show_output), scenario, path, scratch, began)


def _hold_first(scenario: Scenario, scratch: Path, show_output: bool) -> tuple[Outcome, Spare]:
    """The plain rehearsal, and a spare that others may start from."""
    _clear(scratch)
    path = scratch / f"{len(list(scratch.glob('*.journal')))}.journal"
    spare, began = Spare(scenario), time.monotonic()
    child = _Child(scenario, path, scratch, show_output, spare)
    spare.given()
    return _awaited(child, scenario, path, scratch, began), spare


def _awaited(player: _Child | Player, scenario: Scenario, path: Path, scratch: Path, began: float) -> Outcome:
    with _ended_whatever_happens(player.process):
        in_time = _wait(player, Clock(scenario.seconds + _GRACE, player.process))
    outcome = journal.read(path)
    outcome.seconds, outcome.cpu_seconds = time.monotonic() - began, player.cpu_seconds()
    if not in_time and outcome.how == "died":
        outcome.how = "out of time"
    if outcome.how == "died" or "status" in outcome.end:
        outcome.last_words = _last_lines(scratch / _ERRORS)
    return outcome


class _Child:
    """A rehearsal in a process that starts as a copy of this one."""

    def __init__(self, scenario: Scenario, path: Path, scratch: Path, show: bool, spare: Spare | None = None) -> None:
        self._used = _cpu_seconds()
        self.process = os.fork()
        if self.process == 0:
            _perform(scenario, path, scratch, show, spare)

    def has_ended(self) -> bool:
        with suppress(ChildProcessError):
            return os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        return True

    def cpu_seconds(self) -> float:
        return _cpu_seconds() - self._used


def _cpu_seconds() -> float:
    """Of all processes started here that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _last_lines(path: Path) -> list[str]:
    """What the program said last on standard error, where it was not shown."""
    text = path.read_bytes()[-_LAST_BYTES:].decode(errors="replace") if path.exists() else ""
    return [line.rstrip() for line in text.splitlines() if line.strip()][-_LAST_LINES:]


def _perform(scenario: Scenario, path: Path, scratch: Path, show_output: bool, spare: Spare | None) -> None:
    """The child: never returns."""
    status = 70
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
        if not show_output:
            for stream, name in ((1, "output"), (2, _ERRORS)):
                os.dup2(os.open(scratch / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND), stream)
            # Whatever stood there wrote to the streams of the process that this one is a copy of.
            sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
        from sleuth.dry import stage

        status = stage.play(scenario, path, scratch, spare)
    except BaseException:
        import traceback

        journal.Journal(path).write("broken", what=traceback.format_exc(limit=-12))
    finally:
        os._exit(status)


@contextmanager
def _ended_whatever_happens(child: int) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)


def _wait(player: _Child | Player, clock: Clock) -> bool:
    """Wait for its end, for as long as it has."""
    pause = 0.002
    while not clock.is_over:
        if player.has_ended():
            return True
        time.sleep(pause)
        pause = min(0.05, pause * 1.5)
        clock.look()
    return False


def _clear(scratch: Path) -> None:
    for path in scratch.iterdir():
        if path.suffix != ".journal":
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()


def _visits(names: list[str], scenario: Scenario, plain: Outcome) -> Iterator[tuple[str, Scenario]]:
    """The corners worth a visit. One that needs the files of the plain rehearsal goes first."""
    scenes = {name: corners.module(name).scenario(scenario, plain) for name in names}
    for name, scene in sorted(scenes.items(), key=lambda item: item[1] is not None and not item[1].keeps_files):
        if scene is not None:
            # The plain rehearsal has been through it all: one round shows what is different.
            yield name, replace(scene, corner=name, rounds=1)


def _new(found: list[Finding], outcome: Outcome, name: str) -> list[Finding]:
    """What a corner shows that was not known before."""
    known = {(finding.diagnosis, finding.place) for finding in found}
    fresh = [finding for finding in outcome.findings if (finding.diagnosis, finding.place) not in known]
    told = [corners.module(name).told(finding) for finding in fresh]
    return [finding for finding in told if finding is not None]


def _of_the_last_batch(plain: Outcome, scenario: Scenario, scratch: Path, spare: Spare) -> list[Finding]:
    """The findings; where it took the uneven last batch to see a crash, and its size is why, that is said."""
    if not last_batch.is_suspect(plain):
        return list(plain.findings)
    by_size = last_batch.is_known(plain) or last_batch.is_by_size(
        plain, hold(last_batch.scenario(scenario, plain), scratch, spare=spare)
    )
    return [last_batch.told(finding, plain, by_size) for finding in plain.findings]


def _of_the_end(outcome: Outcome, scenario: Scenario) -> list[Finding]:
    """A rehearsal that did not come to its end, where that is the program's fault: long computing is none."""
    place = place_from_json(outcome.end.get("place"))
    trained = any(outcome.acts.get(act) for act in ("forward", "backward", "step"))
    if outcome.how == "out of time" and outcome.end.get("still") and not trained and place is not None:
        return [
            handbook.finding(
                "hangs-in-rehearsal",
                place=place,
                certainty="hint",
                severity="note",
                evidence=[Evidence("seconds", scenario.seconds)],
            )
        ]
    return []
