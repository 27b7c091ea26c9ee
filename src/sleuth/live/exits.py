"""The ways out of a program, each of which must pass by the report: Ctrl-C, os._exit, exec, threads that go on."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Protocol

from sleuth.findings import Report
from sleuth.live.line import say
from sleuth.live.ranks.muster import INVITATION
from sleuth.live.stop import Stop
from sleuth.live.wraps import Wraps
from sleuth.program import Ending

_EXECS = ("execv", "execve")


class Close(Protocol):
    def __call__(self, ending: Ending, how: str = "") -> Report: ...


@contextmanager
def told_of(close: Close) -> Iterator[None]:
    """While the program runs: one that leaves by os._exit, or becomes another program, still gets its report."""
    process = os.getpid()
    wraps = Wraps()

    def around_exit(original: Any) -> Any:
        def _exit(status: int) -> None:
            if os.getpid() == process:
                status = _harmlessly(close, Ending(status & 0xFF), f"left by os._exit({status})")
            original(status)

        return _exit

    def around_exec(original: Any) -> Any:
        def become(*args: Any) -> None:
            if os.getpid() == process:
                os.environ.pop(INVITATION, None)
                _harmlessly(close, Ending(0), "became another program by os.exec, which is not watched")
            original(*args)

        return become

    def around_hook(original: Any) -> Any:
        def excepthook(args: Any) -> Any:
            # A thread that a verdict has ended is no error of the program.
            return None if issubclass(args.exc_type, Stop) else original(args)

        return excepthook

    wraps.wrap(threading, "excepthook", around_hook)
    wraps.wrap(os, "_exit", around_exit)
    for name in _EXECS:
        wraps.wrap(os, name, around_exec)
    try:
        yield
    finally:
        wraps.remove()


def _harmlessly(close: Close, ending: Ending, how: str) -> int:
    """Gives the exit status."""
    try:
        report = close(ending, how)
        sys.stdout.flush()
        sys.stderr.flush()
        return report.exit
    except Exception as error:
        say(f"no report: {type(error).__name__}: {error}")
        return ending.status


@contextmanager
def unhurried(hurry: Callable[[], object]) -> Iterator[None]:
    """While the report is made: the first Ctrl-C only cuts experiments short, a second one ends us."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def asked(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        hurry()

    before = signal.signal(signal.SIGINT, asked)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.default_int_handler)


def wait_for_threads() -> None:
    """As Python itself does when it ends: what they train is part of the run."""
    if not _threads_to_wait_for():
        return
    # Idle workers of an executor are sent home by these; without them they would be waited for for ever.
    send_home = getattr(threading, "_threading_atexits", None)
    if send_home is None:
        return
    for call in reversed(send_home):
        call()
    for thread in _threads_to_wait_for():
        thread.join()


def _threads_to_wait_for() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one is not threading.main_thread() and not one.daemon]


def say_if_it_trains_on() -> None:
    """The report is out; exit handlers and destructors are still to run."""
    if "torch" not in sys.modules:
        return
    import torch

    wraps = Wraps()

    def around_backward(original: Any) -> Any:
        def backward(*args: Any, **kwargs: Any) -> Any:
            wraps.remove()
            say("it trains on after its end, in an exit handler or a destructor: that is not watched")
            return original(*args, **kwargs)

        return backward

    wraps.wrap(torch.autograd, "backward", around_backward)
