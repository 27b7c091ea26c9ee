"""Other programs: those that only ask may run, all others are pretended to have run well, and are listed."""

from __future__ import annotations

import contextlib
import itertools
import os
import shlex
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sleuth.dry.patches import Patches
from sleuth.dry.safe.harmless import harmless, harmless_line
from sleuth.dry.safe.layers import Layers, real

# Above any number that Linux gives to a process: a signal sent there reaches nobody.
_NUMBERS = itertools.count(1 << 23)
_LONGEST_SHOWN = 120
_running = threading.local()

Tell = Callable[[str, str], None]


@contextlib.contextmanager
def allowed() -> Iterator[None]:
    """What is started meanwhile, in this thread, has been looked at."""
    before = is_allowed()
    _running.allowed = True
    try:
        yield
    finally:
        _running.allowed = before


def is_allowed() -> bool:
    return getattr(_running, "allowed", False)


def pretended_number() -> int:
    """The process number of a process that does not exist."""
    return next(_NUMBERS)


def is_pretended(number: int) -> bool:
    return number >= 1 << 23


def shown(command: Any) -> str:
    words = command if isinstance(command, (str, bytes, os.PathLike)) else None
    line = os.fsdecode(words) if words is not None else shlex.join(os.fsdecode(word) for word in command)
    return line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 1] + "…"


def install(patches: Patches, tell: Tell, layers: Layers) -> None:
    patches.set(subprocess.Popen, "_execute_child", _popen(subprocess.Popen._execute_child, tell, layers))  # type: ignore[attr-defined]
    for name, stand in {**_starting(tell), **_waiting(), **_signalling(tell), **_replacing()}.items():
        if hasattr(os, name):
            patches.set(os, name, stand)


def _may_run(command: Any, shell: bool) -> bool:
    if isinstance(command, (str, bytes, os.PathLike)):
        line = os.fsdecode(command)
        return harmless_line(line) if shell else harmless([line]) and shutil.which(line) is not None
    words = [os.fsdecode(word) for word in command]
    if shell:
        return len(words) == 1 and harmless_line(words[0])
    return harmless(words) and shutil.which(words[0]) is not None


def _popen(original: Callable[..., None], tell: Tell, layers: Layers) -> Callable[..., None]:
    def _execute_child(self: Any, args: Any, executable: Any, *rest: Any) -> None:
        given = list(rest)  # preexec_fn, close_fds, pass_fds, cwd, env, startupinfo, creationflags, shell, six pipes, …
        cwd, env, shell, pipes = given[3], given[4], given[7], given[8:14]
        if executable is None and given[0] is None and _may_run(args, shell):
            place = layers.place(cwd) if cwd is not None else layers.cwd
            given[3] = cwd if place is None else layers.where(place) if not layers.is_real(place) else place
            given[4] = env if env is None else {**env, "GIT_OPTIONAL_LOCKS": "0", "PYTHONDONTWRITEBYTECODE": "1"}
            with allowed():
                return original(self, args, executable, *given)
        tell("process", shown(args))
        _pretend(self, *pipes)

    return _execute_child


def _pretend(popen: Any, *pipes: int) -> None:
    """A process that took all it was given, said nothing, and ended well."""
    _, to_it, *_ = pipes
    if to_it != -1:
        nowhere = real.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, to_it, inheritable=False)
        os.close(nowhere)
    popen.pid = pretended_number()
    popen._child_created = True
    popen.returncode = 0
    popen._close_pipe_fds(*pipes)


def _starting(tell: Tell) -> dict[str, Callable[..., Any]]:
    def system(command: Any) -> int:
        if harmless_line(os.fsdecode(command)):
            with allowed():
                return real.system(command)  # type: ignore[no-any-return]
        tell("process", shown(command))
        return 0

    def posix_spawn(path: Any, argv: Sequence[Any], env: Any, **options: Any) -> int:
        if is_allowed():
            return real.posix_spawn(path, argv, env, **options)  # type: ignore[no-any-return]
        tell("process", shown(argv))
        return pretended_number()

    def fork() -> int:
        tell("process", "a copy of the program (os.fork)")
        return pretended_number()

    def forkpty() -> tuple[int, int]:
        return fork(), real.open(os.devnull, os.O_RDWR)

    def spawn(mode: int, file: Any, args: Sequence[Any], env: Any, func: Any) -> int:
        tell("process", shown(args))
        return 0 if mode == os.P_WAIT else pretended_number()

    return {
        "system": system,
        "posix_spawn": posix_spawn,
        "posix_spawnp": posix_spawn,
        "fork": fork,
        "forkpty": forkpty,
        "_spawnvef": spawn,
    }


def _waiting() -> dict[str, Callable[..., Any]]:
    def waitpid(pid: int, options: int) -> tuple[int, int]:
        return (pid, 0) if is_pretended(pid) else real.waitpid(pid, options)

    def getpgid(pid: int) -> int:
        return pid if is_pretended(pid) else real.getpgid(pid)

    return {"waitpid": waitpid, "getpgid": getpgid}


def _signalling(tell: Tell) -> dict[str, Callable[..., Any]]:
    """A program may send signals to itself; others do not hear them."""

    def kill(pid: int, signal: int) -> None:
        if pid == os.getpid() or signal == 0:
            real.kill(pid, signal)
        elif not is_pretended(pid):
            tell("signal", f"process {pid}")

    def killpg(group: int, signal: int) -> None:
        if not is_pretended(group):
            tell("signal", f"process group {group}")

    return {"kill": kill, "killpg": killpg}


def _replacing() -> dict[str, Callable[..., Any]]:
    def execute(path: Any, argv: Sequence[Any], *env: Any) -> None:
        from sleuth.dry.stage import CannotGoOn

        raise CannotGoOn(f"the program replaces itself by `{shown(argv)}`")

    return {"execv": execute, "execve": execute}
