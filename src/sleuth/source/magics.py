"""The lines of a notebook cell that only IPython understands, replaced by Python that stands for them, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sleuth.source.syntax import parsed

# Cell magics whose body is Python that runs in the notebook itself.
_PYTHON_INSIDE = frozenset(
    {"time", "timeit", "capture", "prun", "memit", "mprun", "lprun", "debug", "wandb", "snakeviz"}
)
# Line magics that run the statement behind them.
_RUNS_A_STATEMENT = re.compile(
    r"%(?:time|timeit|prun|memit|debug)\b(?:[ \t]+-[A-Za-z]\d*(?:[ \t]+\d+)?(?=[ \t]))*[ \t]+"
)
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
_MAGIC = re.compile(r"[ \t]*[%!?,;/]")
_HELP = re.compile(r"[ \t]*%{0,2}[\w.*\[\]'\"]+\?{1,2}[ \t]*(?:#.*)?$")
_ASSIGNED = re.compile(r"([ \t]*[\w.,*\[\]() \t]*?=[ \t]*)(?:!|%(?=[A-Za-z]))")
# What may hold a bracket or a quotation mark that means nothing.
_TOKEN = re.compile(
    r"""
    (?P<comment>\#.*)
    | (?P<long>\"\"\"|''')
    | "(?:\\.|[^"\\])*"? | '(?:\\.|[^'\\])*'?
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    """,
    re.VERBOSE,
)


def as_python(cell: str) -> str:
    """The cell as plain Python with the same number of lines; a cell in another language becomes empty lines."""
    if parsed(cell) is not None:
        return cell
    lines = cell.split("\n")
    first = next((index for index, line in enumerate(lines) if line.strip()), 0)
    # IPython forgives a cell that was pasted with its indentation.
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    lines = [line.removeprefix(indent) for line in lines]
    magic = _CELL_MAGIC.match(lines[first])
    if magic is not None:
        if magic[1] not in _PYTHON_INSIDE:
            return "\n" * (len(lines) - 1)
        lines[first] = ""
    return "\n".join(_replaced(lines))


def _replaced(lines: list[str]) -> Iterator[str]:
    """Only where a statement may begin: `% b` may also be the second line of a long expression."""
    reading = _Reading()
    continued = False
    for line in lines:
        if continued:
            continued = line.endswith("\\")
            yield ""
        elif reading.at_a_statement and (stand_in := _stand_in(line)) is not None:
            continued = line.endswith("\\")
            yield stand_in
        else:
            reading.read(line)
            yield line


def _stand_in(line: str) -> str | None:
    """Python in the place of a line for IPython, or None where the line is Python already."""
    indent = line[: len(line) - len(line.lstrip())]
    runs = _RUNS_A_STATEMENT.match(line, len(indent))
    if runs is not None and parsed(f"pass; {line[runs.end() :].strip()}") is not None:
        # As wide as the magic, so that every column stays true.
        return indent + "pass;".ljust(runs.end() - runs.start()) + line[runs.end() :]
    if _MAGIC.match(line) or _HELP.match(line):
        return f"{indent}pass"
    assigned = _ASSIGNED.match(line)
    return None if assigned is None else f"{assigned[1]}get_ipython()"


class _Reading:
    """What is still open at the end of a line: brackets, a long string, a backslash."""

    def __init__(self) -> None:
        self._depth = 0
        self._string = ""
        self._joined = False

    @property
    def at_a_statement(self) -> bool:
        return not (self._depth or self._string or self._joined)

    def read(self, line: str) -> None:
        at = 0
        while at < len(line):
            at = self._end_of_string(line, at) if self._string else self._next(line, at)
        self._joined = not self._string and line.endswith("\\")

    def _end_of_string(self, line: str, at: int) -> int:
        end = re.compile(rf"(?:\\.|(?!{self._string}).)*{self._string}").match(line, at)
        if end is None:
            return len(line)
        self._string = ""
        return end.end()

    def _next(self, line: str, at: int) -> int:
        token = _TOKEN.search(line, at)
        if token is None or token["comment"]:
            return len(line)
        self._string = token["long"] or ""
        self._depth = max(0, self._depth + bool(token["open"]) - bool(token["close"]))
        return token.end()
