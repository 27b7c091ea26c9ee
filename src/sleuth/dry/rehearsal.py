"""Rehearses a program: once plainly, then in its corners, each in a process of its own that leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from sleuth import handbook
from sleuth.dry import corners, journal
from sleuth.dry.journal import Outcome
from sleuth.dry.scenario import Scenario
from sleuth.findings import Evidence, Finding, Report, place_from_json
from sleuth.program import silenced

# After its time is over a rehearsal says where it was; one that does not even get to that is ended from here.
_GRACE = 20.0


@dataclass
class Rehearsal:
    """What came of it: the findings, and of each re-run what it learnt, the plain one first."""

    report: Report
    plain: Outcome
    scenario: Scenario
    corners: dict[str, Outcome] = field(default_factory=dict)

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
        plain = hold(scenario, scratch, show_output)
        if plain.how == "too expensive" and numbers == "auto":
            _clear(scratch)
            scenario = replace(scenario, numbers="fake")
            progress("with fake numbers")
            plain = hold(scenario, scratch, show_output)
        found = [_placed_in_time(finding, plain) for finding in plain.findings]
        found += _of_the_end(plain, scenario)
        visited = {}
        if plain.how == "ended":
            names = corners.names() if in_corners is None else [n for n in corners.names() if n in in_corners]
            for name, scene in _visits(names, scenario, plain):
                progress(corners.module(name).TITLE)
                visited[name] = outcome = hold(scene, scratch, False)
                found += _new(found, outcome, name)
    kept = tuple(finding for finding in found if not silenced(finding, ignore))
    return Rehearsal(Report("dry", wanted.target, kept), plain, scenario, visited)


def prepare() -> None:
    """What every rehearsal needs, here: each starts as a copy of this process. Any optimiser needs torch._dynamo."""
    import torch._dynamo  # noqa: F401

    from sleuth.dry import acts, crashes, frameworks, loaders, loops, stage  # noqa: F401
    from sleuth.dry.fake import engine  # noqa: F401
    from sleuth.dry.memory import meter  # noqa: F401
    from sleuth.dry.pretend import cuda, distributed, libraries, mps  # noqa: F401
    from sleuth.dry.safe import guard  # noqa: F401

    crashes.in_order()


def hold(scenario: Scenario, scratch: Path, show_output: bool = False) -> Outcome:
    """One rehearsal in a process of its own."""
    if not scenario.keeps_files:
        _clear(scratch)
    number = len(list(scratch.glob("*.journal")))
    path = scratch / f"{number}.journal"
    child = os.fork()
    if child == 0:
        _perform(scenario, path, scratch, show_output)
    with _ended_whatever_happens(child):
        in_time = _wait(child, scenario.seconds + _GRACE)
    outcome = journal.read(path)
    if not in_time and outcome.how == "died":
        outcome.how = "out of time"
    return outcome


def _perform(scenario: Scenario, path: Path, scratch: Path, show_output: bool) -> None:
    """The child: never returns."""
    status = 70
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
        if not show_output:
            nowhere = os.open(scratch / "output", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
        from sleuth.dry import stage

        status = stage.play(scenario, path, scratch)
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


def _wait(child: int, seconds: float) -> bool:
    """Wait for its end, at most so long."""
    until = time.monotonic() + seconds
    pause = 0.002
    while time.monotonic() < until:
        with suppress(ChildProcessError):
            if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return True
        time.sleep(pause)
        pause = min(0.05, pause * 1.5)
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
            yield name, replace(scene, corner=name)


def _new(found: list[Finding], outcome: Outcome, name: str) -> list[Finding]:
    """What a corner shows that was not known before."""
    known = {(finding.diagnosis, finding.place) for finding in found}
    fresh = [finding for finding in outcome.findings if (finding.diagnosis, finding.place) not in known]
    told = [corners.module(name).told(finding) for finding in fresh]
    return [finding for finding in told if finding is not None]


def _placed_in_time(finding: Finding, outcome: Outcome) -> Finding:
    """Where it took the uneven last batch to see it, say so."""
    last = outcome.notes.get("last batch")
    if last is None or finding.effect != "crash" or outcome.how != "raised":
        return finding
    sum_ = f": {last['samples']:,} % {last['usual']} = {last['size']}" if last["samples"] else ""
    return corners.titled(finding, f"at the last batch of each epoch{sum_}")


def _of_the_end(outcome: Outcome, scenario: Scenario) -> list[Finding]:
    """A rehearsal that did not come to its end, where that is the program's fault."""
    place = place_from_json(outcome.end.get("place"))
    trained = any(outcome.acts.get(act) for act in ("forward", "backward", "step"))
    if outcome.how == "out of time" and not trained and place is not None:
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
