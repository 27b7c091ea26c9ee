"""Other programs, with an end set to their time."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
}


@dataclass(frozen=True)
class Ended:
    status: int | None  # None where time was up
    output: str

    @property
    def last_line(self) -> str:
        return (self.output.strip().splitlines() or ["no output"])[-1][:300]


def run(command: Sequence[str | Path], folder: Path, seconds: float, more: Mapping[str, str] | None = None) -> Ended:
    """Runs a command in a session of its own; when time is up, that session ends with all that was started in it."""
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=folder,
        env={**ENVIRONMENT, **(more or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
        return Ended(process.returncode, output)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return Ended(None, output)
