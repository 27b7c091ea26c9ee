"""The process that holds one rehearsal: sets the stage, lets the program play, and writes down what happens."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sleuth import program
from sleuth.dry import crashes
from sleuth.dry.births import Births
from sleuth.dry.crash import crash_of
from sleuth.dry.journal import Journal
from sleuth.dry.patches import Patches
from sleuth.dry.purse import Purse
from sleuth.dry.safe import refusals
from sleuth.dry.scenario import Scenario
from sleuth.dry.watchers import Watcher
from sleuth.findings import place_to_json


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
        self.began = time.monotonic()
        self.mode: Any = None
        # The batch a DataLoader gave last (`loaders.Dealt`).
        self.dealt: Any = None
        # How much there was of what was gone through in part only: samples, batches, rounds.
        self.shortened: set[int] = set()
        self.purse = Purse(self)

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

    def left(self) -> float:
        """Seconds of the budget that are left."""
        return self.scenario.seconds - (time.monotonic() - self.began)


@contextlib.contextmanager
def set_up(stage: Stage) -> Iterator[None]:
    """Everything pretended, for as long as this lasts."""
    import torch._dynamo  # noqa: F401  not for the first time among pretended things, which it would keep

    from sleuth.dry import acts, corners, frameworks, loaders, watchers
    from sleuth.dry.memory import meter
    from sleuth.dry.pretend import cuda, distributed, generators, libraries, mps, numbered, storages
    from sleuth.dry.pretend.mode import Mode

    with contextlib.ExitStack() as stack:
        stack.callback(stage.patches.undo)
        stage.mode = Mode(stage)
        for part in (cuda, mps, generators, storages, numbered, distributed, libraries, acts, loaders, frameworks):
            part.install(stage)
        if stage.fake:
            from sleuth.dry.fake import engine

            stack.enter_context(engine.fake_numbers(stage))
        stage.watchers += [*watchers.silent_ones(stage)]
        stack.enter_context(meter.counted(stage))
        corners.install(stage)
        stack.enter_context(stage.mode)
        yield


def play(scenario: Scenario, journal_path: Path, scratch: Path) -> int:
    """Hold the rehearsal in this process and return its exit status: 0 whatever was found, as long as it was held."""
    from sleuth.dry import loops
    from sleuth.dry.safe import guard

    journal = Journal(journal_path)
    stage = Stage(scenario, journal, scratch)
    subject = program.find(scenario.target, scenario.arguments, scenario.module)
    guard.install(stage, for_good=True)
    with set_up(stage):
        subject = loops.instrumented(subject, stage)
        _watch_the_clock(stage)
        ending = program.run(subject)
        conclude(ending.error, stage)
    journal.close()
    sys.stdout.flush()
    sys.stderr.flush()
    return 0


def conclude(error: BaseException | None, stage: Stage) -> None:
    stage.tell("ended", error)
    how, detail = "ended", ""
    crash = None if error is None else crash_of(error, stage)
    if isinstance(error, TooExpensive):
        how, detail = "too expensive", str(error)
    elif isinstance(error, CannotGoOn):
        how, detail = "cannot go on", str(error)
    elif isinstance(error, KeyboardInterrupt):
        how = "interrupted"
    elif crash is not None and not isinstance(error, Enough) and not _left_well(crash.error):
        how, detail = "raised", f"{type(error).__name__}: {error}"
        refused = refusals.behind(crash.error)
        if refused is not None:
            detail = f"it needs {refused}, which a rehearsal does not have; {detail}"
        if refused is not None or crashes.is_outside(crash.error):
            how = "cannot go on"
        dealt = stage.dealt
        if dealt is not None and dealt.is_last and dealt.size != dealt.usual and dealt.number:
            stage.journal.write("last batch", size=dealt.size, usual=dealt.usual, samples=dealt.samples)
        finding = crashes.explained(crash) if refused is None else None
        if finding is None and crashes.is_of_rounds_left_out(crash):
            how, detail = "cannot go on", f"rounds were left out, and it counts them; {detail}"
        if finding is not None:
            stage.journal.finding(finding)
    place = crash.place if crash is not None and how == "cannot go on" else None
    stage.journal.write("ended", how=how, detail=detail, place=place_to_json(place), acts=dict(stage.acts))


def _left_well(error: BaseException) -> bool:
    return isinstance(error, SystemExit) and error.code in (None, 0)


def _watch_the_clock(stage: Stage) -> None:
    """When the time is over, say on which line the program was, and end it."""
    main = threading.main_thread().ident
    stage.began = time.monotonic()

    def wait() -> None:
        time.sleep(max(0.0, stage.left()))
        place = program.users_place(sys._current_frames().get(main or 0))
        stage.journal.write("ended", how="out of time", place=place_to_json(place), acts=dict(stage.acts), detail="")
        os._exit(0)

    threading.Thread(target=wait, name="sleuth-clock", daemon=True).start()
