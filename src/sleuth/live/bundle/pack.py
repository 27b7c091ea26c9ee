"""Keeping what a failing step started from, at the moment the trouble is first seen: before an update spoils it.

Nothing is prepared on healthy steps. All that is needed lives in the watch and in the program already: the batch and
the random state for a replay, the weights since they have not been updated, the optimisers."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sleuth
from sleuth.findings import Finding
from sleuth.frameworks import torch_private
from sleuth.live.bundle import format
from sleuth.live.line import say
from sleuth.program import Program, is_users, place_of_error, shown_path

if TYPE_CHECKING:
    from sleuth.live.replay import Trouble
    from sleuth.live.rounds import Rounds


NAME = "crash"
SUFFIX = ".sleuth"
# Larger ones are written without their weights: a bundle is meant to be kept and sent.
LARGEST = 2 * 1024**3
# All bundles but the newest few are deleted, so that a week of crashing runs does not fill the disk.
KEPT = 5
_LARGEST_SOURCE = 4 * 1024 * 1024


class Keeper:
    """Writes the bundle of one run, the first time something goes wrong. An error of its own costs only the bundle."""

    def __init__(
        self,
        folder: Path,
        program: Program,
        noted: Callable[[str, str, int], object],
        largest: int = LARGEST,
    ) -> None:
        """`noted` is told the file's name, its identity and the step, when it is there."""
        self._path: Path | None = None
        self._folder = folder.absolute()
        self._program = program
        self._started_in = os.getcwd()
        self._noted = noted
        self._largest = largest
        self._packed = False
        self._part: Path | None = None
        self._identity = ""
        self._step = 0

    def pack(self, trouble: Trouble, rounds: Rounds, error: BaseException | None = None) -> None:
        """Write down the step that is under way. Only the first trouble of a run is kept."""
        if self._packed:
            return
        self._packed = True
        try:
            self._write(trouble, rounds, error)
        except Exception as problem:
            self._failed(problem)

    def _write(self, trouble: Trouble, rounds: Rounds, error: BaseException | None) -> None:
        import torch

        from sleuth.live.bundle.gather import Gathering, place

        rank, ranks = _ranks()
        room = min(self._largest, shutil.disk_usage(self._folder).free // 2)
        unseen = torch_private.get("torch._C.DisableTorchFunction")
        with torch.no_grad(), unseen():
            gathering = Gathering(trouble, rounds, _frame_of(error))
            content = gathering.content(room)
            self._identity, self._step = uuid.uuid4().hex, trouble.step
            content |= {
                "id": self._identity,
                "versions": _versions(),
                "program": self._told_program(),
                "sources": _sources(self._program.path),
                "step": trouble.step,
                "rank": rank,
                "ranks": ranks,
            }
            content["symptom"] |= {
                "error": None if error is None else type(error).__qualname__,
                "said": _said(trouble, error),
                "place": place(trouble.place if error is None else place_of_error(error)),
            }
            name = NAME if rank == 0 else f"{NAME}-rank{rank}"
            self._part = self._folder / f"{name}{SUFFIX}.part"
            format.write(self._part, content, gathering.tensors)

    def _told_program(self) -> dict[str, Any]:
        program = self._program
        return {
            "name": program.module or program.name,
            "module": program.module is not None,
            "arguments": list(program.arguments),
            "folder": os.path.relpath(self._started_in, self._folder),
        }

    def seal(self, finding: Finding | None) -> None:
        """What was found is known now: the bundle is complete."""
        if self._part is None:
            return
        part, self._part = self._part, None
        final = part.with_suffix("")
        try:
            format.seal(part, final, finding)
            self._path = final
            self._noted(final.name, self._identity, self._step)
            _keep_newest(self._folder.parent)
        except Exception as problem:
            self._failed(problem)

    def discard(self) -> None:
        """The user does not want to hear of this finding."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
            self._path = None

    def kept(self) -> list[Path]:
        """The bundles of this run: of several ranks, those that had trouble of their own."""
        return sorted(self._folder.glob(f"{NAME}*{SUFFIX}"))

    def close(self) -> None:
        """The run is over. Where another rank had the trouble, this one's step is of no interest."""
        if self._part is not None:
            self._part.unlink(missing_ok=True)
            self._part = None

    def _failed(self, problem: Exception) -> None:
        self.close()
        said = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        say(f"no crash bundle was written: {type(problem).__name__}: {said}")


def _frame_of(error: BaseException | None) -> Any:
    """Where an exception was raised, for the variables there."""
    trace = error.__traceback__ if error is not None else None
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame if trace is not None else None


def _said(trouble: Trouble, error: BaseException | None) -> str:
    if error is not None:
        lines = str(error).strip().splitlines() or [""]
        return f"{type(error).__qualname__}: {lines[0]}".removesuffix(": ")
    what = {"loss": "the loss became {:g}", "scale": "the gradients are not finite at a scale of {:g}"}
    return what.get(trouble.symptom, "a gradient became {:g}").format(trouble.value)


def _ranks() -> tuple[int, int]:
    import torch.distributed as distributed

    if not distributed.is_available() or not distributed.is_initialized():
        return 0, 1
    return distributed.get_rank(), distributed.get_world_size()


def _versions() -> dict[str, str]:
    import torch

    return {"sleuth": sleuth.__version__, "torch": str(torch.__version__), "python": platform.python_version()}


def _sources(program: str) -> dict[str, str]:
    """The SHA-256 of every file of the user's that is part of the program."""
    files = {program}
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and is_users(file):
            files.add(os.path.abspath(file))
    return {shown_path(file): digest for file in sorted(files) if (digest := source_digest(file)) is not None}


def source_digest(file: str) -> str | None:
    """The SHA-256 of a file, None where it cannot be read."""
    try:
        with open(file, "rb") as opened:
            return hashlib.sha256(opened.read(_LARGEST_SOURCE)).hexdigest()
    except OSError:
        return None


def _keep_newest(runs: Path) -> None:
    bundles = sorted(runs.glob(f"*/{NAME}*{SUFFIX}*"), key=lambda file: file.stat().st_mtime)
    for file in bundles[:-KEPT]:
        file.unlink(missing_ok=True)
