"""Rehearsing pieces of code in a process of their own, in a folder that must not change."""

from __future__ import annotations

import hashlib
import os
import sys
import textwrap
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch  # noqa: F401  (once, for all the processes forked from here)

from sleuth import program
from sleuth.dry import journal
from sleuth.dry.safe import guard
from sleuth.frameworks.patches import Patches


class Stage:
    """As much of a stage as the guard needs."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.journal = journal.Journal(scratch / "journal")
        self.patches = Patches()
        self.at_end: list[Callable[[], None]] = []


@dataclass(frozen=True)
class Rehearsed:
    status: int
    output: str
    kept_off: list[tuple[str, str]]

    def kept(self, act: str) -> list[str]:
        return [what for kind, what in self.kept_off if kind == act]


def fingerprint(folder: Path) -> str:
    """Everything about a folder that a program could have changed, as one number."""
    digest = hashlib.sha256()
    for root, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(folders + files):
            path = os.path.join(root, name)
            status = os.lstat(path)
            digest.update(f"{path} {status.st_mode} {status.st_size} {status.st_mtime_ns}".encode())
            if os.path.islink(path):
                digest.update(os.readlink(path).encode())
            elif os.path.isfile(path):
                digest.update(Path(path).read_bytes())
    return digest.hexdigest()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The user's folder."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def rehearse(tmp_path: Path, home: Path) -> Callable[..., Rehearsed]:
    """Rehearses code in `home`; twice in the same scratch folder where called twice."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    def run(code: str, for_good: bool = True, check: bool = True) -> Rehearsed:
        before = fingerprint(home)
        output = tmp_path / "output"
        child = os.fork()
        if child == 0:
            _play(textwrap.dedent(code), scratch, home, output, for_good)
        _, status = os.waitpid(child, 0)
        said = output.read_text()
        kept = journal.read(scratch / "journal").kept_off
        (scratch / "journal").unlink()
        assert fingerprint(home) == before
        assert not check or status == 0, said
        return Rehearsed(os.waitstatus_to_exitcode(status), said, kept)

    return run


def _play(code: str, scratch: Path, home: Path, output: Path, for_good: bool) -> None:
    """The child's whole life."""
    status = 1
    try:
        descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        sys.stdout = sys.stderr = open(1, "w", closefd=False)  # noqa: SIM115
        os.chdir(home)
        program._started_in.cache_clear()
        sys.path.insert(0, str(home))
        stage = Stage(scratch)
        guard.install(stage, for_good)  # type: ignore[arg-type]
        exec(compile(code, str(home / "train.py"), "exec"), {"__name__": "__main__"})
        for act in stage.at_end:
            act()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
