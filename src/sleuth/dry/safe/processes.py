"""Other programs: those that only ask may run, all others are pretended to have run well, and are listed."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import os
import shlex
import shutil
import stat
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sleuth.dry.safe import card_questions
from sleuth.dry.safe.acted_out import act_out
from sleuth.dry.safe.harmless import commands, harmless
from sleuth.dry.safe.layers import Layers, real
from sleuth.frameworks.patches import Patches

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
    line = " ".join(line.split())
    return line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 1] + "…"


def install(patches: Patches, outside: Outside) -> None:
    execute = subprocess.Popen._execute_child  # type: ignore[attr-defined]
    patches.set(subprocess.Popen, "_execute_child", _popen(execute, outside))
    for name, stand in {**_starting(outside), **_waiting(), **_signalling(outside.tell), **_replacing()}.items():
        if hasattr(os, name):
            patches.set(os, name, stand)


def _commands(given: Any, shell: bool) -> list[list[str]]:
    """What is to be started, as single commands."""
    if isinstance(given, (str, bytes, os.PathLike)):
        return commands(os.fsdecode(given)) if shell else [[os.fsdecode(given)]]
    words = [os.fsdecode(word) for word in given]
    return [words] if not shell else commands(words[0]) if len(words) == 1 else [[]]


def _is_installed(command: list[str]) -> bool:
    return bool(command) and shutil.which(command[0]) is not None


def _quiet() -> dict[str, str]:
    """What the environment tells git, for a program that is given another one."""
    return {name: value for name, value in os.environ.items() if name.startswith("GIT_")}


def _popen(original: Callable[..., None], outside: Outside) -> Callable[..., None]:
    taken = inspect.signature(original)

    def _execute_child(self: Any, *words: Any, **options: Any) -> None:
        # preexec_fn, close_fds, pass_fds, cwd, env, startupinfo, creationflags, shell, six pipes, …
        _, args, executable, *given = taken.bind(self, *words, **options).args
        cwd, env, shell, pipes = given[3], given[4], given[7], given[8:14]
        wanted = _commands(args, shell)
        said = card_questions.answer(wanted[0]) if len(wanted) == 1 else None
        if said is not None:
            return _pretend(self, pipes, said)
        if executable is None and given[0] is None and outside.may_run(wanted, shell):
            given[3] = outside.folder(cwd)
            given[4] = env if env is None else {**env, **_quiet()}
            with allowed():
                return original(self, args if shell else [outside.lies(word) for word in wanted[0]], executable, *given)
        status = act_out(wanted) if cwd is None else None
        if status is None:
            outside.pretends(args, pipes[2] != -1)
        _pretend(self, pipes, "", status or 0)

    return _execute_child


class Outside:
    """What a program that is started, or only seems to be, has to do with this one."""

    def __init__(self, layers: Layers, tell: Tell, assume: Callable[[str], None]) -> None:
        self._layers, self.tell, self._assume = layers, tell, assume

    def folder(self, cwd: Any) -> Any:
        """The real folder to start it in."""
        place = self._layers.cwd if cwd is None else self._layers.place(cwd)
        if place is None or self._layers.is_real(place):
            return cwd if place is None else place
        return self._layers.where(place)

    def may_run(self, wanted: list[list[str]], shell: bool) -> bool:
        if not all(map(harmless, wanted)):
            return False
        if not shell:
            return _is_installed(wanted[0])
        # A shell would look for the real files.
        return all(self.lies(word) == word for command in wanted for word in command)

    def lies(self, word: str) -> str:
        """The word; or, where it names a file that the program has written, where that lies."""
        place = None if self._layers.clean or word.startswith("-") else self._layers.place(word)
        if place is None or self._layers.where(place) == place or self._layers.kind(place) != stat.S_IFREG:
            return word
        return self._layers.where(place)

    def pretends(self, command: Any, is_listened_to: bool = False) -> None:
        self.tell("process", shown(command))
        if is_listened_to:
            self._assume(f"`{shown(command)}` assumed to say nothing")


def _pretend(popen: Any, pipes: Sequence[int], output: str = "", status: int = 0) -> None:
    """A process that took all it was given, said this, and ended so."""
    _, to_it, _, from_it, *_ = pipes
    if to_it != -1:
        nowhere = real.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, to_it, inheritable=False)
        os.close(nowhere)
    if output and from_it != -1:
        os.write(from_it, output.encode())
    popen.pid = pretended_number()
    popen._child_created = True
    popen.returncode = status
    popen._close_pipe_fds(*pipes)


def _starting(outside: Outside) -> dict[str, Callable[..., Any]]:
    def system(command: Any) -> int:
        wanted = commands(os.fsdecode(command))
        if outside.may_run(wanted, shell=True):
            with allowed():
                return real.system(command)  # type: ignore[no-any-return]
        status = act_out(wanted)
        if status is None:
            outside.pretends(command)
        return (status or 0) << 8

    def posix_spawn(path: Any, argv: Sequence[Any], env: Any, **options: Any) -> int:
        if is_allowed():
            return real.posix_spawn(path, argv, env, **options)  # type: ignore[no-any-return]
        outside.pretends(argv)
        return pretended_number()

    def fork() -> int:
        outside.tell("process", "a copy of the program (os.fork)")
        return pretended_number()

    def forkpty() -> tuple[int, int]:
        return fork(), real.open(os.devnull, os.O_RDWR)

    def spawn(mode: int, file: Any, args: Sequence[Any], env: Any, func: Any) -> int:
        outside.pretends(args)
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
    def execute(path: Any, argv: Sequence[Any], env: Any = None) -> None:
        from sleuth.dry.stage import CannotGoOn

        raise CannotGoOn(f"the program replaces itself by `{shown(argv)}`")

    return {"execv": execute, "execve": execute}
