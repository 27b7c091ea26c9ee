"""Where the ranks of one run meet: they agree on a folder, end one after the other, and one of them speaks for all.

A launcher (torchrun) starts a `sleuth run` for each rank, or a `sleuth run` starts a program that starts the ranks. No
torch in here."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sleuth.live import record
from sleuth.live.ranks import rank, world

INVITATION = "SLEUTH_RANKS"
_HOOK = os.path.join(os.path.dirname(__file__), "hook")
_REPORTED = "reported"
# Ranks of one training end within moments. One that is alive and has not ended after this is left to itself.
SECONDS_TO_END = 5.0
# A rank waits for the one that speaks for all, as a launcher ends those that are left as soon as one has failed.
SECONDS_TO_REPORT = 15.0
SECONDS_TO_FOLLOW = 1.5
_SECONDS_BETWEEN_LOOKS = 0.05


@dataclass(frozen=True, slots=True)
class Invitation:
    """What a process that may turn out to train has to know, handed down in its environment."""

    folder: str
    keep_going: bool = False
    ignore: tuple[str, ...] = ()
    expect: tuple[dict[str, Any], ...] = ()
    experiments: float = 0.0
    quiet: bool = False


def invitation() -> Invitation | None:
    told = os.environ.get(INVITATION)
    if told is None:
        return None
    said = json.loads(told)
    said |= {"ignore": tuple(said["ignore"]), "expect": tuple(said["expect"])}
    return Invitation(**said)


@contextmanager
def inviting(guest: Invitation) -> Iterator[None]:
    """Python processes that the program starts meanwhile are watched once they train."""
    before = {name: os.environ.get(name) for name in (INVITATION, "PYTHONPATH")}
    os.environ[INVITATION] = json.dumps(asdict(guest))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (_HOOK, before["PYTHONPATH"])))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def was_started_as_a_rank() -> bool:
    """By a launcher that tells each process its number, as torchrun does."""
    return "RANK" in os.environ and world() > 1


def temporary_root() -> Path:
    """For ranks of a run that is not to be recorded: they still have to meet."""
    return Path(tempfile.gettempdir()) / f"sleuth-{os.getuid() if hasattr(os, 'getuid') else 'ranks'}"


def agreed_folder(root: Path, program: str) -> Path:
    """The same folder for all ranks that one launcher has started on this machine. The first to come names it."""
    runs = root / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    sign = _sign(root)
    named = record.new_folder(root, program).name
    deadline = time.monotonic() + SECONDS_TO_END
    while True:
        try:
            with open(sign, "x", encoding="utf-8") as file:
                file.write(f"{named}\n")
            return runs / named
        except FileExistsError:
            name = _read(sign)
        if name.endswith("\n") and not (runs / name.strip() / record.file_of_rank(rank())).exists():
            return runs / name.strip()
        if name.endswith("\n") or time.monotonic() > deadline:
            # Left behind by an earlier launcher that had the same number.
            sign.unlink(missing_ok=True)
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _sign(root: Path) -> Path:
    """Where the name of the folder is written while the ranks of this launcher run."""
    told = [os.environ.get(name, "") for name in ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_PORT")]
    return root / "runs" / f".{'-'.join(filter(str.isalnum, told))}-{os.getppid()}"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a rank, or of another process, as its record tells it."""

    rank: int
    process: int
    ended: bool
    how: str
    step: int
    time: float

    @property
    def alive(self) -> bool:
        return not self.ended and is_alive(self.process)


def fates(folder: Path) -> list[Fate]:
    """What became of every rank that has written here."""
    return [_fate(record.rows(folder, one), one) for one in record.ranks(folder)]


def fates_of_processes(folder: Path) -> list[Fate]:
    """What became of those that trained by themselves."""
    files = (folder / record.file_of_process(one) for one in record.processes(folder))
    return [_fate(record.rows_of(file), 0) for file in files]


def _fate(rows: Iterable[dict[str, Any]], one: int) -> Fate:
    process, step, end = 0, 0, None
    for row in rows:
        if row["row"] == "start":
            process, end = row["process"], None
        elif row["row"] == "values":
            step = row["step"] + row["steps"]
        elif row["row"] == "end":
            end = row
    if end is None:
        return Fate(one, process, False, "", step, 0.0)
    return Fate(one, process, True, end["how"], end["steps"], end["time"])


def is_alive(process: int) -> bool:
    """Does the process still run? One that only waits for its parent to take note of its end does not."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except (OSError, IndexError):
        return True


def all_ended(folder: Path, seconds: float, but: int | None = None) -> bool:
    """Wait until every rank has ended or died, or this time has passed."""
    deadline = time.monotonic() + seconds
    while any(fate.alive and fate.rank != but for fate in fates(folder)):
        if time.monotonic() > deadline:
            return False
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    return True


def speaks_for_all(folder: Path) -> bool:
    """Does this rank, which has ended, report for all of them? The first one that is left does; the others wait until
    it has. One that has not ended yet may itself be waiting for this process to go."""
    me = rank()
    first_here = os.environ.get("LOCAL_RANK", str(me)) == "0"
    now = time.monotonic()
    patience, deadline = now + SECONDS_TO_FOLLOW, now + SECONDS_TO_REPORT
    while time.monotonic() < deadline:
        if (folder / _REPORTED).exists():
            return False
        try:
            before_me = [fate for fate in fates(folder) if fate.rank < me]
        except FileNotFoundError:
            # Of a run that is not recorded, the one that has spoken leaves nothing behind.
            return False
        if any(fate.alive for fate in before_me) and time.monotonic() > patience:
            return False
        if not any(is_alive(fate.process) for fate in before_me) and (first_here or before_me):
            all_ended(folder, SECONDS_TO_END, but=me)
            return True
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    return False


def reported(folder: Path) -> None:
    """The report is out: the other ranks may go."""
    (folder / _REPORTED).touch()
    _sign(folder.parent.parent).unlink(missing_ok=True)


def program_name() -> str:
    return sys.argv[0] if sys.argv and sys.argv[0] else "<python>"
