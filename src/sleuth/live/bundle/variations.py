"""The ways in which a step is played: as it was, and with one thing changed at a time. Each runs in a process of its
own, so that none leaves anything behind for the next."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from sleuth.findings import Finding, finding_from_json
from sleuth.live.bundle.format import Bundle

How = Literal["bad", "finite", "other error", "unreached"]


@dataclass(frozen=True, slots=True)
class Variation:
    """What of the bundle is put in place; the rest is the program's own. `eager` switches torch.compile off; `traced`
    names the operation, which needs compiled code to run eagerly, too."""

    name: str
    weights: bool = True
    batch: bool = True
    random: bool = True
    eager: bool = False
    traced: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it. `unreached` means that the step could not be re-created, and `said` why."""

    how: How
    said: str
    compiled: bool = False
    seconds: float = 0.0
    finding: Finding | None = None

    @property
    def known(self) -> bool:
        return self.how in ("bad", "finite")


@dataclass(frozen=True, slots=True)
class Command:
    """How the program is started."""

    target: str
    arguments: tuple[str, ...]
    module: bool
    folder: Path

    def __str__(self) -> str:
        import shlex

        return shlex.join(["python", *(["-m"] if self.module else []), self.target, *self.arguments])


AS_IT_WAS = Variation("as it was")
EAGERLY = Variation("without torch.compile", eager=True)
FRESH_WEIGHTS = Variation("with the weights the program starts from", weights=False)
TRACED = Variation("under the trace", traced=True)
OTHER_NUMBERS = Variation("with other random numbers", random=False)


def other_batch(bundle: Bundle) -> Variation:
    """The program's own first batch. Where it makes its batches itself, it makes others from other random numbers."""
    if bundle.content["begins"] == "deal":
        return Variation("with another batch", batch=False)
    return Variation("with other random numbers, and what is made from them", batch=False, random=False)


# The child starts with our import path, not with whatever lies in the program's folder.
_START = """\
import json, sys
task = json.loads(sys.argv[1])
sys.path[:] = task["path"]
from sleuth.live.bundle.child import main
main(task)
"""


class Stage:
    """Plays variations of one bundle."""

    def __init__(
        self,
        bundle: Bundle,
        command: Command,
        *,
        seconds: float,
        from_start: bool = False,
        hear: Callable[[str], object] | None = None,
    ) -> None:
        """`seconds` is the time each may take; `hear` gets every line that the program prints."""
        self._bundle = bundle
        self._command = command
        self._seconds = seconds
        self._from_start = from_start
        self._hear = hear

    def play(self, variation: Variation) -> Outcome:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="sleuth-replay-") as folder:
            result = Path(folder) / "outcome.json"
            finished = self._run(self._task(variation, result))
            told = _read(result)
        if told is None:
            why = "the program ended without a word" if finished else f"it took longer than {self._seconds:g} seconds"
            told = {"how": "unreached", "said": why}
        found = told.pop("finding", None)
        finding = None if found is None else finding_from_json(found)
        return Outcome(**told, seconds=time.monotonic() - began, finding=finding)

    def _task(self, variation: Variation, result: Path) -> dict[str, Any]:
        return {
            "path": [os.path.abspath(entry) for entry in sys.path],
            "bundle": str(self._bundle.path.absolute()),
            "target": self._command.target,
            "arguments": list(self._command.arguments),
            "module": self._command.module,
            "variation": asdict(variation),
            "from_start": self._from_start,
            "result": str(result),
        }

    def _run(self, task: dict[str, Any]) -> bool:
        """Run the child; False where its time was up. What it started goes with it."""
        child = subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps(task)],
            cwd=self._command.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if self._hear is not None else subprocess.DEVNULL,
            stderr=subprocess.STDOUT if self._hear is not None else subprocess.DEVNULL,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        listener = threading.Thread(target=self._listen, args=(child,), daemon=True)
        listener.start()
        try:
            child.wait(self._seconds)
            return True
        except subprocess.TimeoutExpired:
            return False
        finally:
            _end(child)
            listener.join(1)

    def _listen(self, child: subprocess.Popen[str]) -> None:
        if child.stdout is not None and self._hear is not None:
            for line in child.stdout:
                self._hear(line.rstrip("\n"))

    def _environment(self) -> dict[str, str]:
        """Of a program that ran on several ranks, one is played, as the only one of its world."""
        if self._bundle.content["ranks"] < 2:
            return dict(os.environ)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        alone = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1"}
        return {**os.environ, **alone, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}


def _end(child: subprocess.Popen[str]) -> None:
    """The child leads a session of its own, so its DataLoader workers end with it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _read(result: Path) -> dict[str, Any] | None:
    try:
        told: dict[str, Any] = json.loads(result.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return told
