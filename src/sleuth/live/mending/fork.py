"""A copy of this process that tries something out, answers, and is gone.

What it does stays with it: its memory is its own, what it prints goes nowhere, files that are open are closed to it,
and it ends where it would open one for writing, start a program or call another machine."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

import torch

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_OUTWARD = (
    *("os.rem", "os.rename", "os.link", "os.symlink", "os.mkdir", "os.truncate", "shutil.", "sqlite3.connect"),
    *("os.system", "os.exec", "os.posix", "os.fork", "subprocess."),
    *("socket.connect", "socket.sendto", "socket.sendmsg"),
)
# Those that open files behind Python's back.
_WRITERS = (
    ("torch", "save"),
    ("torch.serialization", "_open_zipfile_writer"),
    ("safetensors.torch", "save_file"),
    ("h5py", "File"),
)
_PIECE = 1 << 16
# Is this process, or was the one it was copied from, copying itself just now?
copying = False


def can_copy() -> bool:
    """A device's memory is not copied, nor are other ranks. The copy needs about as much room as the process has."""
    accelerated = torch.cuda.is_initialized() or (hasattr(torch, "xpu") and torch.xpu.is_initialized())
    return sys.platform == "linux" and not accelerated and _has_room()


def _has_room() -> bool:
    try:
        with open("/proc/meminfo") as file:
            free = next(int(line.split()[1]) for line in file if line.startswith("MemAvailable:"))
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
    except (OSError, StopIteration, ValueError):
        return False
    return free > used


class Copy:
    """Seen from inside the copy."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._leave = os._exit

    def say(self, **said: Any) -> None:
        """What holds unless something else is said later."""
        data = json.dumps(said).encode() + b"\n"
        while data:
            data = data[os.write(self._pipe, data) :]

    def answer(self, **said: Any) -> NoReturn:
        self.say(**said)
        self._leave(0)
        raise AssertionError

    def give_up(self, why: object = "") -> NoReturn:
        self.answer(why=str(why))

    def isolate(self) -> None:
        # The threads of torch were not copied: with more than one it would wait for them for ever.
        torch.set_num_threads(1)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for name in os.listdir("/proc/self/fd"):
            if name.isdigit() and int(name) not in (self._pipe, nowhere) and _is_open_for_writing(int(name)):
                os.dup2(nowhere, int(name))
        sys.stdout = sys.stderr = os.fdopen(nowhere, "w")
        for module, name in _WRITERS:
            if module in sys.modules:
                setattr(sys.modules[module], name, lambda *args, **kwargs: self.give_up("it came to write a file"))
        sys.addaudithook(self._audit)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            _, mode, flags = arguments
            outward = bool(flags & _WRITES) if isinstance(flags, int) else bool(set(mode or "") & set("wax+"))
        else:
            outward = event.startswith(_OUTWARD)
        if outward:
            self.give_up(f"it came to {event}")


def _is_open_for_writing(descriptor: int) -> bool:
    import fcntl

    try:
        return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    except OSError:
        return False


def copied(seconds: float, begin: Callable[[Copy], object]) -> list[dict[str, Any]] | None:
    """In the copy `begin` is called, and None returned, for it to go on from here. In this process, all that it said
    before it left, or until its time was up."""
    global copying
    hear, say = os.pipe()
    copying = True
    try:
        with warnings.catch_warnings():
            # Python warns of copying a process that has threads; the copy uses none of them.
            warnings.simplefilter("ignore")
            process = os.fork()
    finally:
        copying = False
    if process == 0:
        os.close(hear)
        copy = Copy(say)
        try:
            copy.isolate()
            begin(copy)
        except BaseException as error:
            copy.give_up(f"{type(error).__name__}: {error}")
        return None
    os.close(say)
    try:
        return _heard(hear, seconds)
    finally:
        os.close(hear)
        # A program that ignores its children's ends has nobody left to be waited for.
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def _heard(pipe: int, seconds: float) -> list[dict[str, Any]]:
    data, until = b"", time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and select.select([pipe], [], [], left)[0]:
        piece = os.read(pipe, _PIECE)
        if not piece:
            break
        data += piece
    return [json.loads(line) for line in data.split(b"\n")[:-1]]
