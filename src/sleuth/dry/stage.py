"""The process that holds one rehearsal: sets the stage, lets the program play, and writes down what happens."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any

from sleuth import program
from sleuth.dry import crashes, ours_or_yours
from sleuth.dry.births import Births
from sleuth.dry.clock import EVERY, Clock
from sleuth.dry.crash import Crash, crash_of
from sleuth.dry.journal import Journal
from sleuth.dry.purse import Purse
from sleuth.dry.safe import refusals
from sleuth.dry.scenario import Scenario
from sleuth.dry.watchers import Watcher
from sleuth.findings import place_to_json
from sleuth.frameworks import torch_private
from sleuth.frameworks.patches import Patches

if TYPE_CHECKING:
    from sleuth.dry.spare import Spare


class CannotGoOn(BaseException):
    """The program asks for what no rehearsal can pretend, e.g. a CUDA kernel of its own; `str()` says what."""


class TooExpensive(BaseException):
    """Real numbers would take too long or too much memory here: fake ones must do."""


class Enough(BaseException):
    """All that can be learnt has been learnt."""


class Stage:
    """All that one rehearsal shares."""

    def __init__(self, scenario: Scenario, journal: Journal, scratch: Path) -> None:
        from sleuth.dry.pretend.devices import Devices

        self.scenario = scenario
        self.journal = journal
        self.scratch = scratch
        self.patches = Patches()
        self.births = Births()
        self.devices = Devices(scenario)
        self.watchers: list[Watcher] = []
        # How often a model was called, a backward pass made, an optimiser stepped: a loop in which this grows trains.
        self.acts: Counter[str] = Counter()
        # The outermost modules that were called, in that order, and the layer whose forward is under way.
        self.models: list[Any] = []
        self.layer = ""
        self.optimizers: list[Any] = []
        # When a model was called first, among the numbers of the births.
        self.first_forward = 0
        # Where the call under way takes place, e.g. "cuda:0"; whoever counts memory asks for it.
        self.now_on = "cpu"
        self.in_backward = 0
        self.clock = Clock(scenario.seconds)
        self.mode: Any = None
        # The batch a DataLoader gave last (`loaders.Dealt`).
        self.dealt: Any = None
        # How much there was of what was gone through in part only: samples, batches, rounds.
        self.shortened: set[int] = set()
        self.purse = Purse(self)
        # Where the program's files lie, once it is kept from changing any (`safe.layers.Layers`).
        self.files: Any = None
        # What can be told only when all is over.
        self.at_end: list[Callable[[], None]] = []

    def tell(self, what: str, *said: Any) -> None:
        """Tell all watchers. One that fails is told of and heard no more: the program must not suffer for it."""
        for watcher in list(self.watchers):
            try:
                getattr(watcher, what)(*said)
            except Exception as error:
                self.watchers.remove(watcher)
                self.journal.write("broken", what=f"{type(watcher).__module__}: {type(error).__name__}: {error}")

    @property
    def fake(self) -> bool:
        return self.scenario.numbers == "fake"


@contextlib.contextmanager
def set_up(stage: Stage) -> Iterator[None]:
    """Everything pretended, for as long as this lasts."""
    from sleuth.dry import acts, corners, frameworks, loaders, watchers
    from sleuth.dry.memory import meter
    from sleuth.dry.pretend import cuda, distributed, generators, libraries, mps, numbered, storages
    from sleuth.dry.pretend.mode import Mode

    torch_private.get("torch._dynamo")  # not for the first time among pretended things, which it would keep
    with contextlib.ExitStack() as stack:
        stack.callback(stage.patches.undo)
        stage.mode = Mode(stage)
        if stage.scenario.bare:
            acts.count(stage)
            loaders.install(stage)
            yield
            return
        for part in (cuda, mps, generators, storages, numbered, distributed, libraries, acts, loaders, frameworks):
            part.install(stage)
        if stage.fake:
            from sleuth.dry.fake import engine

            stack.enter_context(engine.fake_numbers(stage))
        stage.watchers += [kind(stage) for kind in watchers.silent_kinds()]
        if stage.fake or not stage.scenario.corner:  # memory has been counted when a corner is visited
            stack.enter_context(meter.counted(stage))
        corners.install(stage)
        stack.enter_context(stage.mode)
        yield


def play(scenario: Scenario, journal_path: Path, scratch: Path, spare: Spare | None = None) -> int:
    """Hold the rehearsal in this process and return its exit status: 0 whatever was found, as long as it was held.

    Where a spare is asked for, a copy of this process stays behind after the program's imports."""
    from sleuth.dry import loops
    from sleuth.dry.safe import guard

    journal = Journal(journal_path)
    stage = Stage(scenario, journal, scratch)
    subject = program.find(scenario.target, scenario.arguments, scenario.module)
    guard.install(stage, for_good=True)
    with set_up(stage):
        subject = loops.instrumented(subject, stage, lambda: _leave(spare, stage) if spare is not None else None)
        _watch_the_clock(stage)
        ending = program.run(subject)
        conclude(ending.error, stage)
    stage.journal.close()
    sys.stdout.flush()
    sys.stderr.flush()
    return 0


def _leave(spare: Spare, stage: Stage) -> None:
    spare.offer(stage.files.is_untouched, lambda scenario, journal: _begin_again(stage, scenario, journal))


def _begin_again(stage: Stage, scenario: Scenario, journal: Path) -> None:
    """In a copy of the process: be the rehearsal of this scenario from here on."""
    from sleuth.dry import corners
    from sleuth.dry.memory import meter

    stage.scenario, stage.journal = scenario, Journal(journal)
    stage.files.look_again()
    if not stage.fake:
        stage.watchers = [watcher for watcher in stage.watchers if not isinstance(watcher, meter.Moments)]
    corners.install(stage)
    _watch_the_clock(stage)


def conclude(error: BaseException | None, stage: Stage) -> None:
    """Write down how the program ended."""
    stage.tell("ended", error)
    for act in stage.at_end:
        act()
    crash = None if error is None else crash_of(error, stage)
    end: dict[str, Any] = {"how": "ended", "detail": ""}
    if isinstance(error, TooExpensive):
        end = {"how": "too expensive", "detail": str(error)}
    elif isinstance(error, CannotGoOn):
        end = {"how": "cannot go on", "detail": str(error)}
    elif isinstance(error, KeyboardInterrupt):
        end["how"] = "interrupted"
    elif isinstance(error, SystemExit) and not _left_well(error):
        end = {
            "how": "cannot go on",
            "detail": f"the program ended itself, {_status(error)}",
            "status": str(error.code),
        }
    elif crash is not None and not isinstance(error, Enough) and not _left_well(crash.error):
        end = _crashed(crash, stage)
    place = crash.place if crash is not None and end["how"] == "cannot go on" else None
    stage.journal.write("ended", place=place_to_json(place), acts=dict(stage.acts), **end)


def _crashed(crash: Crash, stage: Stage) -> dict[str, Any]:
    """How it ended: in a crash of the program's own, or in one that comes of the rehearsal."""
    detail = f"{type(crash.error).__name__}: {crash.error}"
    raised: dict[str, Any] = {"type": type(crash.error).__name__, "place": place_to_json(crash.place)}
    if stage.scenario.bare:
        return {"how": "raised", "detail": detail, "raised": raised}
    refused = refusals.behind(crash.error)
    if refused is not None:
        refused = f"it needs {refused}, which a rehearsal does not have; {detail}"
        return {"how": "cannot go on", "detail": refused}
    if crashes.is_outside(crash.error):
        return {"how": "cannot go on", "detail": detail}
    ours = ours_or_yours.why_ours(crash)
    if ours is not None:
        return {"how": "cannot go on", "detail": f"it could not be rehearsed: {ours}; {detail}"}
    if stage.dealt is not None:
        stage.journal.write("batch", **dataclasses.asdict(stage.dealt))
    finding = crashes.explained(crash)
    if finding is None and crashes.is_of_rounds_left_out(crash):
        return {"how": "cannot go on", "detail": f"rounds were left out, and it counts them; {detail}"}
    if finding is not None:
        stage.journal.finding(finding)
        if finding.diagnosis == crashes.UNKNOWN and not ours_or_yours.is_proved(crash):
            raised["users"] = ours_or_yours.in_users_line(crash.error.__traceback__)
            return {"how": "raised", "detail": detail, "unproved": raised}
    return {"how": "raised", "detail": detail}


def _status(error: SystemExit) -> str:
    return f"with status {error.code}" if isinstance(error.code, int) else f"saying {str(error.code).strip()!r}"


def _left_well(error: BaseException) -> bool:
    return isinstance(error, SystemExit) and error.code in (None, 0)


def _watch_the_clock(stage: Stage) -> None:
    """When the time is over, say on which line the program was, and end it."""
    main = threading.main_thread().ident
    clock = stage.clock = Clock(stage.scenario.seconds)

    def wait() -> None:
        while not clock.is_over:
            sleep(EVERY)
            clock.look()
        place = program.users_place(sys._current_frames().get(main or 0))
        for act in stage.at_end:
            act()
        said = {"place": place_to_json(place), "acts": dict(stage.acts), "still": clock.stood_still}
        stage.journal.write("ended", how="out of time", detail="", **said)
        os._exit(0)

    threading.Thread(target=wait, name="sleuth-clock", daemon=True).start()
