"""Ranks that the watched program starts itself: by multiprocessing (spawned or forked) or as programs of their own.

A process is a rank once its launcher has told it so (RANK), or it has called init_process_group. DataLoader workers and
other helpers never are; the processes that a rank starts are not asked again."""

from __future__ import annotations

import os
import sys
from multiprocessing import util
from pathlib import Path
from typing import Any

from sleuth.live import watch as watching
from sleuth.live.expectations import said
from sleuth.live.line import say
from sleuth.live.ranks import distributed, muster, rank, world
from sleuth.live.ranks.merge import STOPPED
from sleuth.live.record import Record
from sleuth.live.stop import RankStop
from sleuth.live.watch import Watch
from sleuth.live.wraps import Wraps, after


class Joining:
    """Hears when a forked process joins the others. `watched` is the process of the `sleuth run`, which may be a rank
    itself and is watched already. (A process that was not forked hears it in `hook/sitecustomize.py`.)"""

    def __init__(self, watched: int) -> None:
        self._watched = watched
        self._wraps = Wraps()

    def install(self) -> None:
        import torch.distributed
        from torch.distributed import distributed_c10d

        public: Any = torch.distributed
        if not public.is_available():
            return
        before = public.init_process_group
        self._wraps.wrap(distributed_c10d, "init_process_group", after(lambda *args, **kwargs: self._joined()))
        public.init_process_group = distributed_c10d.init_process_group
        self._wraps.also_undo(lambda: setattr(public, "init_process_group", before))

    def remove(self) -> None:
        self._wraps.remove()

    def _joined(self) -> None:
        if os.getpid() != self._watched and distributed() is not None:
            self.remove()
            begin()


def begin() -> None:
    """Watch this process, which was started by a watched program, if it is one of several ranks."""
    if world() < 2:
        return
    guest = muster.invitation()
    os.environ.pop(muster.INVITATION, None)
    if guest is None:
        return
    try:
        inherited = watching.active()
        if inherited is not None:
            inherited.abandon()
        _Rank(guest).start()
    except Exception as error:
        say(f"rank {rank()} is not watched: {type(error).__name__}: {error}")


class _Rank:
    """The watch over this process until it ends."""

    def __init__(self, guest: muster.Invitation) -> None:
        folder = Path(guest.folder)
        name = muster.program_name()
        self._book = Record(folder.parent.parent, name, sys.argv[1:], folder=folder, rank=rank(), ranks=world())
        self._watch = Watch(
            keep_going=guest.keep_going, ignore=guest.ignore, record=self._book, program=name, experiments=0.0
        )
        self._watch.stop = lambda: RankStop(1)
        for one in guest.expect:
            said(**one)
        self._error: BaseException | None = None
        self._process = os.getpid()

    def start(self) -> None:
        self._watch.start()
        before = sys.excepthook

        def noticed(kind: Any, error: BaseException, trace: Any) -> None:
            self._error = error
            before(kind, error, trace)

        sys.excepthook = noticed
        # Also called where a forked process of multiprocessing ends, which knows no atexit.
        util.Finalize(None, self._finish, exitpriority=1000)

    def _finish(self) -> None:
        if os.getpid() != self._process:
            return
        error = self._error or sys.exc_info()[1]
        if type(error) is SystemExit and error.__context__ is not None:
            # torch.multiprocessing has told its parent of the error and leaves.
            error = error.__context__
        self._watch.end(error)
        how = STOPPED if self._watch.stopped else _how(error)
        self._book.end(int(self._watch.stopped or error is not None), how, self._watch.steps)
        if self._watch.stopped:
            # Who started the ranks ends those that are left as soon as one has failed.
            muster.all_ended(self._book.folder, muster.SECONDS_TO_END, but=rank())


def _how(error: BaseException | None) -> str:
    if error is None or isinstance(error, SystemExit):
        return "ended"
    return f"raised {type(error).__name__}"
