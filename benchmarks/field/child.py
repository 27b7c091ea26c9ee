"""A program in a process of its own, measured: what it prints, how it ends, what it costs."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

# A person presses Ctrl-C again when nothing happens.
PATIENCE = 120


@dataclass(frozen=True)
class Ended:
    """How a program ended; `cpu` is its own and that of the processes it waited for."""

    status: int
    output: str
    errors: str
    seconds: float
    cpu: float


def run(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    limit: float,
    until: str | None = None,
) -> Ended:
    """Runs it to its end. With `until`, it is interrupted as by Ctrl-C once it has printed a line that begins so."""
    with tempfile.TemporaryFile() as errors:
        began = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        killer = threading.Timer(limit, _signal, (process.pid, signal.SIGKILL))
        killer.start()
        assert process.stdout is not None
        printed = []
        for line in process.stdout:
            printed.append(line.decode(errors="replace"))
            if until is not None and printed[-1].startswith(until):
                _signal(process.pid, signal.SIGINT)
                threading.Timer(PATIENCE, _signal, (process.pid, signal.SIGKILL)).start()
                until = None
        _, status, used = os.wait4(process.pid, 0)
        killer.cancel()
        seconds = time.monotonic() - began
        errors.seek(0)
        said = errors.read().decode(errors="replace")
    return Ended(os.waitstatus_to_exitcode(status), "".join(printed), said, seconds, used.ru_utime + used.ru_stime)


def _signal(group: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)
