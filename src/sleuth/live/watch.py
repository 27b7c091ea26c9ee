"""Watching a run from its beginning to its end: `sleuth run` for scripts, `with sleuth.watch():` from code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ContextDecorator, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Protocol

from sleuth.findings import Finding, Report
from sleuth.live import ranks
from sleuth.live.bundle.pack import Keeper
from sleuth.live.expectations import Expectations
from sleuth.live.line import say
from sleuth.live.ranks import muster
from sleuth.live.ranks.merge import signed
from sleuth.live.record import Record
from sleuth.live.stop import Stop
from sleuth.live.taps import AfterImport, Taps
from sleuth.program import silenced

Sink = Callable[[int, Mapping[str, float]], object]

_active: Watch | None = None
# Seconds that experiments on a copy of the model may take, all together.
EXPERIMENTS = 20.0


class Guest(Protocol):
    """Watches training that torch does not do."""

    @property
    def steps(self) -> int: ...
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
        experiments: float = EXPERIMENTS,
        keeper: Keeper | None = None,
    ) -> None:
        self.findings: list[Finding] = []
        self.errors: list[Exception] = []
        self.program = program
        self._keep_going = keep_going
        self._ignore = frozenset(ignore)
        self._record = record
        self._show = show
        self._experiments = experiments
        self._keeper = keeper
        self._story: Any = None
        self._learning: Any = None
        self._drift: Any = None
        self._taps: list[Any] = []
        # Hears torch; told by others of steps that no optimiser of torch's makes.
        self.torch_listener: Any = None
        self._import = AfterImport(self._torch_is_here)
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
        return max((self._story.step if self._story is not None else 0, *(guest.steps for guest in self.guests)))

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
        self._import.install()

    def end(self, error: BaseException | None = None) -> None:
        """`error` is what ended the program, where something did."""
        global _active
        if self.host is not self:
            self.host = self
            return
        _active = None
        self._import.remove()
        self._remove_taps()
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
            self._learning.finish(error, self._went_bad)
            self._clear_away()

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """Hear nothing for a while."""
        with self._learning.deaf() if self._learning is not None else nullcontext():
            yield

    def abandon(self) -> None:
        """In a forked process that is going to have a watch of its own."""
        global _active
        _active = None
        self._import.remove()
        self._remove_taps()

    def _clear_away(self) -> None:
        from sleuth.live.left_over import clear_away
        from sleuth.live.trace import Calls

        inspection = self._learning.inspection
        clear_away(lambda mode: mode is inspection or isinstance(mode, Calls))

    def _remove_taps(self) -> None:
        for taps in self._taps:
            taps.remove()
        self._taps = []

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        nested = self.host is not self
        self.end(error)
        if nested:
            return False
        if self._record is not None:
            self._record.end(self.report.exit, _how(error), self.steps)
        if self.findings and self._show is not None:
            self._show(self.report)
        return isinstance(error, Stop)

    def _torch_is_here(self) -> None:
        try:
            from sleuth.live.both import Both
            from sleuth.live.learning.listener import Learning
            from sleuth.live.learning.taps import WiringTaps
            from sleuth.live.nonfinite import NonFinite

            self._story = NonFinite(self.deliver, self.failed, _write_nothing, self._keep_going)
            self._story.keeper = self._keeper
            self._story.tell, self._story.stand_down = self.tell, self.stand_down
            self._story.is_silenced = lambda finding: silenced(finding, self._ignore)
            self._learning = Learning(self.tell, self.failed, self.put, self.expectations, self._experiments)
            both = self.torch_listener = Both(self._story, self._learning)
            self._story.wrote = both.heard(self.put, self.expectations.want_layers)
            self._learning.muted = both.muted
            self._taps = [Taps(both), WiringTaps(self._learning), both.drift]
            self._drift = both.drift
            if muster.INVITATION in os.environ:
                from sleuth.live.ranks.children import Joining

                self._taps.append(Joining(os.getpid()))
            for taps in self._taps:
                taps.install()
            if self._late_comer:
                self._story.look_around()
                self._learning.look_at_the_first_step()
        except Exception as error:
            self.failed(error)

    def deliver(self, finding: Finding) -> bool:
        """A number went bad: the run is not worth going on with."""
        if not self._keep(finding):
            return False
        self._went_bad = True
        if not self._keep_going:
            raise self.stop()
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
        if not self._keep(finding):
            return False
        if not self._ending and self._show is None:
            at = f"{finding.place.path}:{finding.place.line}: " if finding.place is not None else ""
            say(f"{at}{finding.title} [{finding.diagnosis}]; more when the program ends")
        return True

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
        self._remove_taps()
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
