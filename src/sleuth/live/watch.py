"""Watching a run from its beginning to its end: `sleuth run` for scripts, `with sleuth.watch():` from code."""

from __future__ import annotations

import atexit
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ContextDecorator, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from sleuth.findings import Finding, Report
from sleuth.frameworks import torch_private
from sleuth.frameworks.after_import import AfterImport
from sleuth.live import ranks, sight
from sleuth.live.bundle.pack import Keeper
from sleuth.live.expectations import Expectations
from sleuth.live.line import note, say
from sleuth.live.ranks.merge import signed
from sleuth.live.record import Record
from sleuth.live.signals import Crash
from sleuth.live.stop import Stop
from sleuth.live.taps import Taps
from sleuth.program import silenced

Sink = Callable[[int, Mapping[str, float]], object]

_active: Watch | None = None
# Rooms for training that torch does not do. Once the program has imported the library, the room's
# `attach(watch, library)` listens there, and returns the way back.
ROOMS: dict[str, str] = {
    "jax": "sleuth.live.jax.attach",
    "keras": "sleuth.live.keras.attach",
    "optax": "sleuth.live.jax.attach",
}
# Seconds that experiments on a copy of the model may take, all together.
EXPERIMENTS = 20.0
_UNUSED = "sleuth.watch() watches nothing by itself: write `with sleuth.watch():` around the training"


class Guest(Protocol):
    """Watches training that torch does not do."""

    @property
    def steps(self) -> int: ...
    def cut_short(self) -> None: ...
    def finish(self, error: BaseException | None = None) -> None: ...


class Watch(ContextDecorator):
    """Watches all training that goes on in this process while it is entered.

    Trouble ends the `with` block early, unless `keep_going` is set: then the poisoned update is skipped and training
    goes on. Either way the findings are in `findings`, `report` has them as a Report, and `show` is called with it.
    Where it is used as a context, it ends its `record`, too."""

    def __init__(
        self,
        *,
        keep_going: bool = False,
        ignore: Collection[str] = (),
        record: Record | None = None,
        program: str = "<python>",
        show: Callable[[Report], object] | None = None,
        all_is_well: Callable[[str], object] | None = None,
        experiments: float = EXPERIMENTS,
        keeper: Keeper | None = None,
        says_unseen: bool = False,
    ) -> None:
        """`all_is_well` hears one line where training was seen and nothing found. `says_unseen`: say it at the end of a
        block in which no training was seen."""
        self.findings: list[Finding] = []
        self.errors: list[Exception] = []
        self.program = program
        self._keep_going = keep_going
        self._ignore = frozenset(ignore)
        self._record = record
        self._show = show
        self._all_is_well = all_is_well
        self._experiments = experiments
        self._keeper = keeper
        self._says_unseen = says_unseen
        self._used = not says_unseen
        if says_unseen:
            atexit.register(self._say_if_unused)
        self._story: Any = None
        self._learning: Any = None
        self._drift: Any = None
        self._taps: list[Any] = []
        # Hears torch; told by others of steps that no optimiser of torch's makes.
        self.torch_listener: Any = None
        self._imports = AfterImport()
        # Places in torch at which nothing was heard any more when the watch ended.
        self.lost_taps: list[str] = []
        # What ended the program, if an error did.
        self.crash: Crash | None = None
        # Why training may go by unseen.
        self.reasons: list[str] = []
        self._ways_back: list[Callable[[], object]] = []
        self.host: Watch = self
        self._sinks: list[Sink] = [] if record is None else [record.values]
        self.expectations = Expectations(self.tell)
        self._late_comer = False
        self._ending = False
        self._went_bad = False
        self.stop: Callable[[], BaseException] = Stop
        # Those who watch training in other frameworks, and tell what they find here.
        self.guests: list[Guest] = []

    @property
    def report(self) -> Report:
        return Report("run", self.program, tuple(self.findings))

    @property
    def steps(self) -> int:
        """How many optimiser steps were completed."""
        return max((self._story_steps, *(guest.steps for guest in self.guests)))

    @property
    def experiments(self) -> float:
        """Seconds that experiments may take."""
        return self._experiments

    @property
    def skipped(self) -> int:
        """How many poisoned updates were held back."""
        return self._story.skipped if self._story is not None else 0

    def start(self) -> None:
        global _active
        if _active is not None:
            # Already watched, e.g. a script with its own `watch()` under `sleuth run`: one watcher is enough.
            self.host = _active
            return
        _active = self
        self.expectations.begin(self._record)
        self._sinks.append(self.expectations.values)
        self._late_comer = "torch" in sys.modules
        self._imports.of("torch", self._torch_is_here)
        for library in ROOMS:
            self._imports.of(library, partial(self._library_is_here, library))
        self._imports.install()

    def end(self, error: BaseException | None = None) -> None:
        """`error` is what ended the program, where something did."""
        global _active
        if self.host is not self:
            self.host = self
            return
        _active = None
        self.lost_taps = self._taps[0].lost() if self._taps else []
        self._let_go()
        crash = self._crash_of(error) if isinstance(error, Exception) and not isinstance(error, Stop) else None
        self.crash = crash
        if self._story is not None:
            if isinstance(error, Exception):
                self._story.crashed(error)
            with suppress(Stop):
                self._story.finish()
            self._story.switch_off()
        self._ending = True
        if self._drift is not None and error is None:
            self._drift.finish()
        for guest in self.guests:
            guest.finish(error)
        if self._learning is not None:
            self._learning.measure(last=True)
        self.expectations.finish()
        if self._learning is not None:
            self._learning.finish(crash, self._went_bad)
            self._clear_away()
        if crash is not None and crash.explanation is not None:
            self._explain(crash.explanation)

    def _crash_of(self, error: Exception) -> Crash | None:
        """Looked into at once, while the calls that led to it are remembered."""
        from sleuth.live import crashes

        try:
            at_hand = crashes.AtHand(step=self.steps if self.guests else None)
            if self._learning is not None:
                from sleuth.live.crashes import of_torch

                at_hand = of_torch.at_hand(self._story, self._learning, error)
            return crashes.crash_of(error, at_hand)
        except Exception as problem:
            self.failed(problem)
            return None

    def _explain(self, explanation: Finding) -> None:
        from sleuth.live.crashes import is_explained_by

        if not is_explained_by(explanation, self.findings):
            self.tell(explanation)

    def blind(self, reason: str) -> None:
        """Training that cannot be watched may be under way, for this reason: said if none is seen."""
        if reason not in self.reasons:
            self.reasons.append(reason)

    @property
    def hears_torch(self) -> bool:
        return self._story is not None

    @property
    def backwards(self) -> int:
        """How many backward passes were heard."""
        return self._story.backwards if self._story is not None else 0

    @property
    def saw_losses(self) -> bool:
        """Were the losses of the steps that this process made looked at?"""
        return not self._story_steps or bool(self.backwards)

    @property
    def _story_steps(self) -> int:
        return self._story.step if self._story is not None else 0

    @property
    def gradients_taken(self) -> int:
        """How often gradients were computed without a backward pass."""
        return self._story.gradients_taken if self._story is not None else 0

    def hurry(self) -> None:
        """Someone waits for the report: no experiment is worth that."""
        if self._learning is not None:
            self._learning.run.laboratory.cut_short()
        for guest in self.guests:
            guest.cut_short()

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """Hear nothing for a while."""
        with self._learning.deaf() if self._learning is not None else nullcontext():
            yield

    def abandon(self) -> None:
        """In a forked process, which is to have a watch of its own if it trains."""
        global _active
        _active = None
        for listener in (self._story, self._learning):
            if listener is not None:
                listener.off = True
        self.expectations.abandon()
        self._let_go()

    def _clear_away(self) -> None:
        from sleuth.live.left_over import clear_away
        from sleuth.live.trace import Calls

        inspection = self._learning.inspection
        clear_away(lambda mode: mode is inspection or isinstance(mode, Calls))

    def _let_go(self) -> None:
        self._imports.remove()
        for one in self._taps:
            one.remove()
        self._taps = []
        while self._ways_back:
            self._ways_back.pop()()

    def __call__(self, func: Any) -> Any:
        self._is_used()
        return super().__call__(func)

    def _is_used(self) -> None:
        self._used = True
        atexit.unregister(self._say_if_unused)

    def __enter__(self) -> Watch:
        self._is_used()
        self.start()
        return self

    def __repr__(self) -> str:
        if self._used:
            return f"<sleuth.watch: {self.steps:,} steps, {len(self.findings)} found>"
        return f"<{_UNUSED}>"

    def _say_if_unused(self) -> None:
        if not self._used:
            say(_UNUSED)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        nested = self.host is not self
        self.end(error)
        if nested:
            return False
        if self._record is not None:
            self._record.end(self.report.exit, _how(error), self.steps)
        if self.findings and self._show is not None:
            self._show(self.report)
        elif self._says_unseen and not self.steps:
            say(f"no training was seen in this block, so nothing is known about it: {sight.watched(self, 0).why}")
        elif self._all_is_well is not None and self.steps and not self.findings:
            self._all_is_well(sight.nothing_found(self, "" if error is None else _how(error)))
        return isinstance(error, Stop)

    def _torch_is_here(self) -> None:
        too_old = torch_private.too_old()
        if too_old is not None:
            say(f"{too_old}; your program goes on unwatched")
            self.blind(too_old)
            return
        try:
            from sleuth.live.both import Both
            from sleuth.live.learning.listener import Learning
            from sleuth.live.learning.taps import WiringTaps
            from sleuth.live.nonfinite import NonFinite

            self._story = NonFinite(
                self.deliver, self.failed, _write_nothing, self._keep_going, experiments=self._experiments
            )
            self._story.keeper = self._keeper
            self._story.tell, self._story.stand_down = self.tell, self.stand_down
            self._story.is_silenced = lambda finding: silenced(finding, self._ignore)
            self._learning = Learning(self.tell, self.failed, self.put, self.expectations, self._experiments)
            both = self.torch_listener = Both(self._story, self._learning)
            self._story.wrote = both.heard(self.put, self.expectations.want_layers)
            self._learning.muted = both.muted
            taps = Taps(both)
            both.first_backward = taps.mend
            self._taps = [taps, WiringTaps(self._learning), both.drift, both.waits]
            self._drift = both.drift
            for one in self._taps:
                one.install(self._imports)
            for remark in torch_private.remarks("run") if ranks.rank() == 0 else ():
                note(remark)
            if self._late_comer:
                self._story.look_around()
                self._learning.look_at_the_first_step()
        except Exception as error:
            self.failed(error)

    def _library_is_here(self, library: str) -> None:
        try:
            room = importlib.import_module(ROOMS[library])
            self._ways_back.append(room.attach(self, library))
        except Exception as error:
            self.failed(error)

    def deliver(self, finding: Finding) -> bool:
        """A number went bad: the run is not worth going on with."""
        known = len(self.findings)
        if not self._keep(finding):
            return False
        self._went_bad = True
        if not self._keep_going:
            raise self.stop()
        if len(self.findings) > known:
            self._say_at_once(finding)
        return True

    @property
    def went_bad(self) -> bool:
        """Has a number gone bad?"""
        return self._went_bad

    @property
    def stopped(self) -> bool:
        """Did a verdict end the program?"""
        return self._went_bad and not self._keep_going

    def stand_down(self) -> None:
        """Another rank has said what went wrong: end with it, unless training goes on."""
        self._went_bad = True
        if not self._keep_going:
            raise self.stop()

    def tell(self, finding: Finding) -> bool:
        """The network learns badly, or not at all: said at once, and the program goes on."""
        known = len(self.findings)
        if not self._keep(finding):
            return False
        if len(self.findings) > known:
            self._say_at_once(finding)
        return True

    def _say_at_once(self, finding: Finding) -> None:
        if not self._ending and self._show is None:
            at = f"{finding.place.path}:{finding.place.line}: " if finding.place is not None else ""
            note(f"{at}{finding.title} [{finding.diagnosis}]; more when the program ends")

    def listen(self, sink: Sink) -> None:
        """Hear every value that is put."""
        self._sinks.append(sink)

    def put(self, step: int, values: Mapping[str, float]) -> None:
        """Numbers of a step, by name: to the record, and to whoever else wants them."""
        for sink in self._sinks:
            sink(step, values)

    def _keep(self, finding: Finding) -> bool:
        if silenced(finding, self._ignore):
            return False
        if ranks.world() > 1:
            finding = signed(finding, ranks.rank())
        # Two expectations may break at one place; anything else is said once of a place.
        same = [f for f in self.findings if (f.diagnosis, f.place) == (finding.diagnosis, finding.place)]
        if not same or (finding.diagnosis == "broken-expectation" and finding not in same):
            self.findings.append(finding)
            if self._record is not None:
                self._record.finding(finding)
        return True

    def failed(self, error: Exception) -> None:
        """An error of ours: said once, and the program goes on unwatched."""
        self.errors.append(error)
        self._let_go()
        for listener in (self._story, self._learning):
            if listener is not None and not listener.off:
                listener.switch_off()
        where = traceback.extract_tb(error.__traceback__)[-1] if error.__traceback__ else None
        at = f" ({Path(where.filename).name}:{where.lineno})" if where else ""
        say(f"an error inside Sleuth{at}: {type(error).__name__}: {error}; your program goes on unwatched")
        if os.environ.get("SLEUTH_DEBUG"):
            traceback.print_exception(error)


def active() -> Watch | None:
    """The watch that is on in this process, if any."""
    return _active


@contextmanager
def set_aside() -> Iterator[None]:
    """For experiments of our own, in the middle of a watched program: whoever watches does not hear them, and they may
    have a watch of their own."""
    global _active
    host, _active = _active, None
    try:
        with host.deaf() if host is not None else nullcontext():
            yield
    finally:
        _active = host


def _how(error: BaseException | None) -> str:
    if error is None:
        return "ended"
    return "stopped by Sleuth" if isinstance(error, Stop) else f"raised {type(error).__name__}"


def _write_nothing(*numbers: object, **more: object) -> None:
    """Until there is someone to tell."""
