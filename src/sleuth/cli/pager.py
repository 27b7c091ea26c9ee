"""A long text on a terminal, a screen at a time."""

from __future__ import annotations

import os
import sys

from sleuth.cli import streams

# What less needs to show colours, to leave the text on the screen, and to end by itself where the text is short.
_LESS = "FRX"


def show(text: str) -> None:
    """Through the user's pager where the text is longer than the screen; as it is where nobody turns pages."""
    command = _command() if _is_long(text) else ""
    if not command or not _paged(command, text):
        streams.show(text)


def _is_long(text: str) -> bool:
    if sys.stdout is None or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return False
    try:
        return text.count("\n") >= os.get_terminal_size(sys.stdout.fileno()).lines - 1
    except OSError:
        return False


def _command() -> str:
    """PAGER as other commands read it: empty means none, and without it `less` where there is one."""
    asked = os.environ.get("PAGER")
    if asked is not None:
        return asked
    import shutil

    return "less" if shutil.which("less") else ""


def _paged(command: str, text: str) -> bool:
    """False where the shell did not find the pager."""
    import subprocess

    environment = {**os.environ, "LESS": os.environ.get("LESS", _LESS)}
    pager = subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, env=environment)
    try:
        pager.communicate(text.encode("utf-8"))
    except KeyboardInterrupt:
        # It is the pager's to understand; we leave when it does.
        pager.wait()
    return pager.returncode not in (126, 127)
