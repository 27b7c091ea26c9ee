"""Standard output and error: whether they want colour, how wide they are, and writing to them without surprises."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_WIDTH_WHEN_PIPED = 100
# Prose in longer lines is hard to read, however wide the window is.
_WIDEST = 120
_hushed = False


def wants_colour(stream: TextIO | None = None) -> bool:
    """Plain when piped or NO_COLOR is set; FORCE_COLOR colours a pipe too."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return os.environ["FORCE_COLOR"] != "0"
    stream = stream or sys.stdout
    return os.environ.get("TERM") != "dumb" and stream is not None and stream.isatty()


def width(stream: TextIO | None = None) -> int:
    """How many columns the terminal has. (shutil knows too, but importing it is a tenth of our whole start.)"""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    try:
        descriptor = 1 if stream is None else stream.fileno()
        return min(os.get_terminal_size(descriptor).columns or _WIDTH_WHEN_PIPED, _WIDEST)
    except (OSError, ValueError):
        return _WIDTH_WHEN_PIPED


def show(text: str, stream: TextIO | None = None) -> None:
    """Write to standard output; a reader who has left, as in `| head`, has read enough."""
    stream = stream or sys.stdout
    if stream is None:
        return
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError:
            encoding = stream.encoding or "ascii"
            stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        _point_at_nothing(stream)


def clear_screen() -> None:
    """A fresh page, where there is a screen to clear."""
    if sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        show("\x1b[2J\x1b[H")


def hush() -> None:
    """From now on only the report is shown, and what went wrong (`--quiet`)."""
    global _hushed
    _hushed = True


def remark(line: str) -> None:
    """A line on standard error, as it is, for those who did not ask for quiet."""
    if not _hushed:
        show(line + "\n", sys.stderr)


def note(message: str) -> None:
    """How it went, in one line on standard error, for those who did not ask for quiet."""
    if not _hushed:
        complain(message)


def complain(message: str) -> None:
    """One line on standard error, whatever the message holds."""
    if sys.stderr is not None:
        show(f"sleuth: {' '.join(message.split())}\n", sys.stderr)


def take_stdout() -> TextIO:
    """Standard output for us alone: from now on what the program prints, and its children, goes to standard error.

    It stays so until the process ends, since a program may still print from its exit handlers.
    """
    if sys.stdout is not None:
        sys.stdout.flush()
    ours = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    try:
        os.dup2(2, 1)
    except OSError:
        _nothing_at(1)
    if os.isatty(1) and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)
    return ours


def _point_at_nothing(stream: TextIO) -> None:
    # The interpreter flushes the stream once more when it ends, and would complain there.
    try:
        _nothing_at(stream.fileno())
    except (OSError, ValueError):
        return


def _nothing_at(descriptor: int) -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)
