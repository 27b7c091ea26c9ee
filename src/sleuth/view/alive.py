"""Does the process that writes a record still live?"""

from __future__ import annotations

import os
from pathlib import Path


def process_of(folder: Path) -> int | None:
    """The process id at the end of a run's folder name."""
    number = folder.name.rpartition("-")[2]
    return int(number) if number.isdecimal() and 0 < int(number) < 2**31 else None


def is_alive(process: int | None) -> bool | None:
    """None where it cannot be known. (On Windows the question itself would end the process.)"""
    if process is None or os.name != "posix":
        return None
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return not _is_zombie(process)


def _is_zombie(process: int) -> bool:
    """A killed process that nobody has waited for, as in many containers, still has its number."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False
