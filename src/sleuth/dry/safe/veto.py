"""The last word, for what got past all else: Python itself asks before it opens, removes, starts or connects."""

from __future__ import annotations

import errno
import os
import posixpath
import sys
from collections.abc import Callable
from typing import Any

from sleuth.dry.safe.changing import writes
from sleuth.dry.safe.layers import is_device, real
from sleuth.dry.safe.network import is_here
from sleuth.dry.safe.processes import is_allowed
from sleuth.dry.safe.refusals import marked
from sleuth.frameworks.patches import Patches

_hooked = False


class Veto:
    """Asked at every event; says no only while `scratch` is set."""

    scratch = ""

    def __init__(self) -> None:
        paths = {
            **dict.fromkeys(("os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "os.chown"), (0,)),
            **dict.fromkeys(("os.utime", "os.setxattr", "os.removexattr"), (0,)),
            "os.rename": (0, 1),
            "os.link": (1,),
            "os.symlink": (1,),
        }
        self._questions: dict[str, Callable[[tuple[Any, ...]], None]] = {
            "open": self._opening,
            **{event: self._changing(event, which) for event, which in paths.items()},
            **dict.fromkeys(("os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty"), self._starting),
            **dict.fromkeys(("os.system", "subprocess.Popen", "os.startfile"), self._starting),
            **dict.fromkeys(("socket.connect", "socket.sendto", "socket.sendmsg"), self._connecting),
        }

    def ask(self, event: str, args: tuple[Any, ...]) -> None:
        question = self._questions.get(event)
        if question is not None and self.scratch:
            question(args)

    def _opening(self, args: tuple[Any, ...]) -> None:
        path, _, flags = args
        if isinstance(flags, int) and writes(flags) and not self._is_free(path):
            raise self._no(path)

    def _changing(self, event: str, which: tuple[int, ...]) -> Callable[[tuple[Any, ...]], None]:
        def ask(args: tuple[Any, ...]) -> None:
            for number in which:
                if not self._is_free(args[number]):
                    raise self._no(args[number])

        return ask

    def _starting(self, args: tuple[Any, ...]) -> None:
        if not is_allowed():
            raise marked(PermissionError(errno.EPERM, os.strerror(errno.EPERM)), "another program")

    def _connecting(self, args: tuple[Any, ...]) -> None:
        if args[1] is not None and not is_here(args[1], self.scratch):
            unreachable = OSError(errno.ENETUNREACH, os.strerror(errno.ENETUNREACH))
            raise marked(unreachable, f"the network ({args[1]})")

    def _is_free(self, path: Any) -> bool:
        if path is None or isinstance(path, int):
            return True
        absolute = posixpath.normpath(posixpath.join(real.getcwd(), os.fsdecode(path)))
        if absolute.startswith("/proc/"):
            return absolute.startswith(("/proc/self/", f"/proc/{os.getpid()}/"))
        return (absolute + "/").startswith(self.scratch + "/") or is_device(absolute)

    def _no(self, path: Any) -> OSError:
        error = PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return marked(error, f"to write {os.fsdecode(path)} in a way that cannot be redirected")


_veto = Veto()


def install(patches: Patches, scratch: str) -> None:
    global _hooked
    patches.set(_veto, "scratch", scratch)
    if not _hooked:
        _hooked = True
        # There is no way to take it away again; without `scratch` it lets everything pass.
        sys.addaudithook(_veto.ask)
