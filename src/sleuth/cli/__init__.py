"""The `sleuth` command: hands each command its arguments, and turns whatever goes wrong into one clear line."""

from __future__ import annotations

import os
import sys

import sleuth
from sleuth.cli.refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from typing import Protocol

    class Command(Protocol):
        """What a module of this package that is a command holds. Its own imports are light: `--help` loads them all."""

        SUMMARY: str
        EXAMPLE: str

        def add_arguments(self, parser: ArgumentParser) -> None: ...

        def execute(self, args: Namespace) -> int: ...


# The commands by the moment at which one needs them.
GROUPS = {
    "before it runs": ("check", "dry", "lsp"),
    "while it runs": ("run", "view"),
    "afterwards": ("report", "replay", "compare"),
    "about problems, and about Sleuth": ("ask", "explain", "study", "completion"),
}
COMMANDS = tuple(name for names in GROUPS.values() for name in names)
CANNOT = 2
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(words)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        return _explain_failure(error)


def load(command: str) -> Command:
    import importlib

    module: Command = importlib.import_module(f"sleuth.cli.{command}")
    return module


def _dispatch(words: list[str]) -> int:
    first = words[0] if words else "--help"
    if first in ("-h", "--help"):
        return _print_overview()
    if first == "--version":
        return _print(f"sleuth {sleuth.__version__}\n")
    if first not in COMMANDS:
        raise Refusal(_no_such_command(first))
    from sleuth.cli.parser import parser_of

    command = load(first)
    try:
        args = parser_of(first, command).parse_args(words[1:])
    except SystemExit as stop:
        return int(stop.code or 0)
    if getattr(args, "quiet", False):
        from sleuth.cli import streams

        streams.hush()
    return command.execute(args)


def _print_overview() -> int:
    from sleuth.cli import streams
    from sleuth.cli.overview import overview

    return _print(overview(GROUPS, load, streams.width()))


def _print(text: str) -> int:
    from sleuth.cli import streams

    streams.show(text)
    return 0


def _no_such_command(word: str) -> str:
    if word.startswith("-"):
        return f"there is no option {word}; `sleuth --help` lists the commands"
    if os.path.isfile(word):
        return f"{word} is not a command; did you mean `sleuth run {word}`?"
    import difflib

    close = difflib.get_close_matches(word, COMMANDS, n=1)
    hint = f"did you mean {close[0]}?" if close else f"choose one of {', '.join(COMMANDS)}"
    return f"there is no command {word!r}; {hint}"


def _explain_failure(error: Exception) -> int:
    if os.environ.get("SLEUTH_DEBUG", "0") not in ("", "0"):
        import traceback

        traceback.print_exc()
    if isinstance(error, Refusal):
        message = str(error)
    elif isinstance(error, OSError) and error.strerror:
        message = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    else:
        message = f"{type(error).__name__} inside Sleuth: {error} (SLEUTH_DEBUG=1 shows where)"
    from sleuth.cli import streams

    streams.complain(message)
    return CANNOT
