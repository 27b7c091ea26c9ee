"""What `sleuth --help` shows, and how every help fits its terminal."""

from __future__ import annotations

import re
import textwrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from sleuth.cli import Command

# Prose in longer lines is hard to read, however wide the window is.
WIDEST = 100
# Behind a longer example its explanation has too little room, and goes below it.
_MOST_OF_A_LINE = 0.6
_TWO_COLUMNS = re.compile(r"( *\S(?:.*?\S)? {2,})(\S.*)")
_HEAD = """\
usage: sleuth COMMAND ...

Finds out why a deep-learning program misbehaves, and shows the line.
"""
_FOOT = """\
options:
  -h, --help    show this, or after a command the help of that command
  --version     show the version

exit status: 0 nothing found, 1 something found, 2 Sleuth could not do its job
"""


def overview(groups: Mapping[str, Iterable[str]], load: Callable[[str], Command], width: int) -> str:
    """Every command under the moment at which one needs it, with its summary and an example."""
    lines = _HEAD.split("\n")
    for when, names in groups.items():
        lines.append(f"{when}:")
        for name in names:
            command = load(name)
            lines += [f"  {name:<12}{command.SUMMARY}", f"  {'':<12}$ {command.EXAMPLE}"]
        lines.append("")
    return fitted("\n".join(lines) + "\n" + _FOOT, width)


def fitted(text: str, width: int) -> str:
    """The text with its long lines wrapped: an explanation in a second column stays in that column."""
    width = min(width, WIDEST)
    return "\n".join(piece for line in text.split("\n") for piece in _pieces(line, width))


def _pieces(line: str, width: int) -> Iterator[str]:
    if len(line) <= width:
        yield line
        return
    columns = _TWO_COLUMNS.fullmatch(line)
    if columns is None:
        indent = " " * (len(line) - len(line.lstrip()))
        yield from _wrapped(line.strip(), width, indent, f"{indent}  " if indent else "")
    elif len(columns[1]) <= width * _MOST_OF_A_LINE:
        yield from _wrapped(columns[2], width, columns[1], " " * len(columns[1]))
    else:
        yield from _pieces(columns[1].rstrip(), width)
        yield from _wrapped(columns[2], width, " " * 6, " " * 6)


def _wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
