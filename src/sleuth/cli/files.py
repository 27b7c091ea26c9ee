"""Writing a report to a file: whole or not at all, and refused before a long run rather than after it."""

from __future__ import annotations

import os
import stat

from sleuth.cli.refusal import Refusal


def check_writable(path: str) -> None:
    """Raise Refusal if a report cannot be written there."""
    if os.path.isdir(path):
        raise Refusal(f"cannot write the report to {path}: it is a directory")
    try:
        if _is_special(path):
            return
        trial = _beside(path)
        with open(trial, "x"):
            pass
        os.unlink(trial)
    except OSError as error:
        raise Refusal(f"cannot write the report to {path}: {error.strerror}") from None


def write(path: str, text: str, what: str = "the report") -> None:
    """Replace the file in one go, so that no reader ever sees half a report."""
    if _is_special(path):
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        return
    path = os.path.realpath(path)
    draft = _beside(path)
    try:
        with open(draft, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        if os.path.exists(path):
            os.chmod(draft, stat.S_IMODE(os.stat(path).st_mode))
        os.replace(draft, path)
    except OSError as error:
        if os.path.exists(draft):
            os.unlink(draft)
        raise Refusal(f"cannot write {what} to {path}: {error.strerror}") from None


def _beside(path: str) -> str:
    folder, name = os.path.split(os.path.realpath(path))
    return os.path.join(folder, f".{name}.{os.getpid()}.part")


def _is_special(path: str) -> bool:
    """A device or a pipe, such as /dev/stderr, is written to and never replaced."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return False
