"""A side in a child process: for a framework that this process should not load, or cannot load twice."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

import sleuth
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides import remote_messages as messages
from sleuth.compare.values import Array, Batch, Captured, Input, Trained

_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONWARNINGS": "ignore", "ABSL_MIN_LOG_LEVEL": "3"}
_HELD_BACK = 4096


class RemoteSide(Side):
    """Starts its process at once and keeps it until `close`; the process ends by itself when this one is gone."""

    _command: tuple[str, ...] = (sys.executable, "-m", "sleuth.compare.sides.worker")

    def __init__(
        self, kind: str, path: str | Path, *, title: str = "", trust: bool = False, backend: str | None = None
    ) -> None:
        self.path = Path(path)
        self.title = title or str(path)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the process)
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=_environment(backend),
        )
        self._ending = weakref.finalize(self, _end, self._process)
        try:
            told, _ = self._ask({"kind": kind, "path": str(self.path.absolute()), "title": self.title, "trust": trust})
        except BaseException:
            self.close()
            raise
        self.runtime, self.precision = told["runtime"], told["precision"]
        self.inputs = tuple(Input(one["name"], tuple(one["shape"]), one["dtype"]) for one in told["inputs"])
        self._weights: dict[str, Array] | None = None

    def run(self, batch: Batch) -> list[Array]:
        return self._ask({"do": "run"}, batch)[1]

    def capture(self, batch: Batch, wanted: Collection[str] | None = None) -> Captured:
        told, arrays = self._ask({"do": "capture", "wanted": None if wanted is None else sorted(wanted)}, batch)
        values = [messages.heard(one) for one in told["values"]]
        outputs, inner = arrays[: told["outputs"]], arrays[told["outputs"] :]
        return Captured(outputs, values, {value.name: array for value, array in zip(values, inner, strict=True)})

    def weights(self) -> Mapping[str, Array]:
        if self._weights is None:
            told, arrays = self._ask({"do": "weights"})
            self._weights = dict(zip(told["names"], arrays, strict=True))
        return self._weights

    def trained(self, batch: Batch, rate: float) -> Trained | None:
        told, arrays = self._ask({"do": "train", "rate": rate}, batch)
        return None if told.get("not_trained") else messages.heard_trained(told, arrays)

    @property
    def size(self) -> int:
        files = [self.path] if self.path.is_file() else [one for one in self.path.rglob("*") if one.is_file()]
        return sum(one.stat().st_size for one in files)

    def close(self) -> None:
        self._ending()

    def _ask(self, asked: dict[str, Any], arrays: Batch = ()) -> tuple[dict[str, Any], list[Array]]:
        inward, outward = cast(BinaryIO, self._process.stdin), cast(BinaryIO, self._process.stdout)
        try:
            messages.send(inward, asked, arrays)
            answer = messages.received(outward)
        except (BrokenPipeError, ValueError):  # it has ended, or was closed
            answer = None
        if answer is None:
            raise CannotCompare(f"{self.title}: {self._last_words()}")
        if "cannot" in answer[0]:
            raise CannotCompare(answer[0]["cannot"])
        return answer

    def _last_words(self) -> str:
        """Why the process is gone: its status, and the last line that it wrote."""
        self._ending()
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - _HELD_BACK))
        lines = [line.strip() for line in self._errors.read().decode(errors="replace").splitlines() if line.strip()]
        status = self._process.returncode
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return f"the process that ran it {how}{': ' + lines[-1] if lines else ''}"


def _environment(backend: str | None) -> dict[str, str]:
    """As ours, with Sleuth importable and the frameworks' chatter off."""
    above = str(Path(sleuth.__file__).resolve().parents[1])
    searched = os.pathsep.join([above, *filter(None, [os.environ.get("PYTHONPATH")])])
    chosen = {"KERAS_BACKEND": backend} if backend else {}
    return {**os.environ, **_QUIET, **chosen, "PYTHONPATH": searched}


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None and not stream.closed:
            with suppress(BrokenPipeError):
                stream.close()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
