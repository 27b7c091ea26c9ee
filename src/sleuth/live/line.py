"""One line of ours among what the program prints: on standard error, never through the middle of a progress bar."""

from __future__ import annotations

import sys

_hushed = False


def hush(quiet: bool) -> None:
    """Whether `note` says nothing."""
    global _hushed
    _hushed = quiet


def note(text: str) -> None:
    """`say` for those who did not ask for quiet: what the report will tell again, or how it went."""
    if not _hushed:
        say(text)


def say(text: str) -> None:
    """Write `sleuth: text`. With tqdm's bars on the screen the line goes above them."""
    line = f"sleuth: {text}"
    if bars_are_shown():
        sys.modules["tqdm.std"].tqdm.write(line, file=sys.stderr)
    elif sys.stderr is not None:
        print(line, file=sys.stderr, flush=True)


def bars_are_shown() -> bool:
    tqdm = sys.modules.get("tqdm.std")
    return tqdm is not None and bool(getattr(tqdm.tqdm, "_instances", ()))
