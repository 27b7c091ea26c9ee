"""Processes that the watched program starts: by multiprocessing (spawned or forked) or as programs of their own.

One is a rank once its launcher has told it so (RANK), or it has called init_process_group; the processes that a rank
starts are not asked again. Any other that trains is watched by itself. DataLoader workers and the like never train."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from multiprocessing import util
from pathlib import Path
from typing import Any

from sleuth.frameworks.after_import import AfterImport, is_imported
from sleuth.live import watch as watching
from sleuth.live.expectations import said
from sleuth.live.line import hush, say
from sleuth.live.ranks import distributed, muster, rank, world
from sleuth.live.ranks.merge import STOPPED
from sleuth.live.record import LateRecord, Record
from sleuth.live.stop import RankStop
from sleuth.live.watch import Watch
from sleuth.live.wraps import Wraps, after

# A process that uses none of these does not train, or not where it can be watched.
LIBRARIES = ("torch", "jax")
_forks_are_heard: list[bool] = []
_mine: list[_Child] = []


def begin() -> None:
    """Watch this process, which was started by a watched program, from here on."""
    guest = muster.invitation()
    if guest is None:
        return
    try:
        hush(guest.quiet)
        _abandon_inherited()
        child = _Rank(guest) if world() > 1 else _Alone(guest)
        _mine[:] = [child]
        child.start()
    except Exception as error:
        say(f"process {os.getpid()} is not watched: {type(error).__name__}: {error}")


def _abandon_inherited() -> None:
    inherited = watching.active()
    if inherited is not None:
        inherited.abandon()


def listen_to_forks() -> None:
    """A forked process inherits a watch that is not its own."""
    if not _forks_are_heard and hasattr(os, "register_at_fork"):
        _forks_are_heard.append(True)
        os.register_at_fork(after_in_child=_forked)


def _forked() -> None:
    if watching.active() is None or muster.INVITATION not in os.environ or _is_our_own():
        return
    try:
        _abandon_inherited()
        _mine.clear()
        wait_for_training()
    except Exception as error:
        say(f"process {os.getpid()} is not watched: {type(error).__name__}: {error}")


def _is_our_own() -> bool:
    """Is it Sleuth that copies the process, to try something out?"""
    fork = sys.modules.get("sleuth.live.mending.fork")
    return fork is not None and fork.copying


def wait_for_training() -> None:
    """Begin when this process imports a framework; where it has torch already, when it begins to train."""
    imports = AfterImport()
    if is_imported("torch"):
        _Training(begin).install()
    else:
        for library in LIBRARIES:
            imports.of(library, begin_once)
        imports.install()


def begin_once() -> None:
    if not _mine:
        begin()


class _Training:
    """Calls back at the first sign of training in a process that has torch but no watch: most never give one."""

    def __init__(self, begin: Callable[[], object]) -> None:
        self._begin = begin
        self._wraps = Wraps()

    def install(self) -> None:
        import torch
        from torch.optim import Optimizer
        from torch.optim.optimizer import register_optimizer_step_pre_hook

        hook = register_optimizer_step_pre_hook(lambda *step: self._has_begun())
        self._wraps.also_undo(hook.remove)
        self._wraps.wrap(torch.autograd, "backward", self._first(torch.autograd, "backward"))
        self._wraps.wrap(Optimizer, "__init__", self._first(Optimizer, "__init__"))
        hear_joining(self._wraps, self._has_begun)

    def _first(self, owner: Any, name: str) -> Callable[[Any], Any]:
        def wrapper(original: Any) -> Any:
            def first(*args: Any, **kwargs: Any) -> Any:
                self._has_begun()
                return getattr(owner, name)(*args, **kwargs)

            return first

        return wrapper

    def _has_begun(self) -> None:
        self._wraps.remove()
        self._begin()


def hear_joining(wraps: Wraps, joined: Callable[[], object]) -> None:
    """Call back when this process has joined others as a rank."""
    import torch.distributed

    public: Any = torch.distributed
    if not public.is_available():
        return
    wraps.wrap(public.distributed_c10d, "init_process_group", after(lambda *args, **kwargs: joined()))
    wraps.patches.set(public, "init_process_group", public.distributed_c10d.init_process_group)


class _Child:
    """The watch over this process until it ends."""

    def __init__(self, guest: muster.Invitation, book: Record, keep_going: bool, experiments: float) -> None:
        self._book = book
        self._watch = Watch(
            keep_going=keep_going,
            ignore=guest.ignore,
            record=book,
            program=muster.program_name(),
            experiments=experiments,
        )
        self._watch.stop = lambda: RankStop(1)
        self._expect = guest.expect
        self._error: BaseException | None = None
        self._process = os.getpid()

    def start(self) -> None:
        for one in self._expect:
            said(**one)
        self._watch.start()
        before = sys.excepthook

        def noticed(kind: Any, error: BaseException, trace: Any) -> None:
            self._error = error
            before(kind, error, trace)

        sys.excepthook = noticed
        # Also called where a forked process of multiprocessing ends, which knows no atexit.
        util.Finalize(None, self._finish, exitpriority=1000)

    def _finish(self) -> None:
        if os.getpid() != self._process or self not in _mine:
            return
        error = self._error or sys.exc_info()[1]
        if type(error) is SystemExit and error.__context__ is not None:
            # torch.multiprocessing has told its parent of the error and leaves.
            error = error.__context__
        self._watch.end(error)
        how = STOPPED if self._watch.stopped else _how(error)
        self._book.end(int(self._watch.stopped or error is not None), how, self._watch.steps)


class _Rank(_Child):
    def __init__(self, guest: muster.Invitation) -> None:
        os.environ.pop(muster.INVITATION, None)
        folder = Path(guest.folder)
        name = muster.program_name()
        book = Record(folder.parent.parent, name, sys.argv[1:], folder=folder, rank=rank(), ranks=world())
        super().__init__(guest, book, guest.keep_going, experiments=0.0)

    def _finish(self) -> None:
        super()._finish()
        if self._watch.stopped and os.getpid() == self._process:
            # Who started the ranks ends those that are left as soon as one has failed.
            muster.all_ended(self._book.folder, muster.SECONDS_TO_END, but=rank())


class _Alone(_Child):
    """Its program may wait for it for ever if it left: poisoned updates are held back, and it goes on. It may yet join
    others, and is a rank then."""

    def __init__(self, guest: muster.Invitation) -> None:
        folder = Path(guest.folder)
        name = muster.program_name()
        book = LateRecord(folder.parent.parent, name, sys.argv[1:], folder=folder, helps=True)
        super().__init__(guest, book, True, guest.experiments)
        self._wraps = Wraps()

    def start(self) -> None:
        super().start()
        listen_to_forks()
        if is_imported("torch"):
            hear_joining(self._wraps, self._joined)
        else:
            imports = AfterImport()
            imports.of("torch", lambda: hear_joining(self._wraps, self._joined))
            imports.install()

    def _joined(self) -> None:
        if os.getpid() == self._process and distributed() is not None:
            self._wraps.remove()
            begin()


def _how(error: BaseException | None) -> str:
    if error is None or isinstance(error, SystemExit):
        return "ended"
    return f"raised {type(error).__name__}"
