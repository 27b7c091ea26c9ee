"""A text as it was pasted: rid of what terminals and launchers put around it, its errors and tracebacks found."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace

# Of a longer log its beginning and, where errors are, its end are read.
_LONGEST = 400_000
_BEGINNING = 50_000
# What is asked stands at the beginning of a text or behind the log it quotes.
_EXCERPT = 20_000

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
# What blogs and word processors make of quotes and spaces.
_TYPESET = {0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"', 0xA0: " ", 0x200B: ""}
_ENTITIES = re.compile(r"&(?:lt|gt|quot|#39|#x27);")
# `[rank0]: `, `(Worker pid=7) `, `E   ` of pytest, `> ` of a quote, the frame of rich, the time and level of a logger.
_PREFIXES = re.compile(
    r"^(?:\[(?:default)?(?:rank)?\d+\](?::|<std(?:err|out)>:) ?|\([\w.]+ pid=\d+[^)\n]*\) |E {3,}|(?:> ?)+|│ |"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*\]?[ :-]*(?:\[?(?:ERROR|WARNING|INFO|CRITICAL)\b\]?[ :-]*)?)+",
    re.MULTILINE,
)
# The last line of a traceback: the class of an exception, then a colon or nothing.
_CLASS = (
    r"(?:[A-Za-z_]\w*\.)*_?(?:[A-Z]\w*)?"
    r"(?:Error|Exception|Warning|Failure|Failed|Unsupported|Interrupt|SymNode|Exit|StopIteration|InvalidArgument)"
    r"(?: \(see above for traceback\))?"
)
_STATEMENT = re.compile(
    rf"^[ \t]*(?:[^\s:]+:\d+: |Exception has occurred: |Uncaught )?{_CLASS}(?=:|[ \t]*$)|"
    r"^[ \t]*(?:ERROR|FATAL|fatal error|terminate called|Segmentation fault|Killed|Bus error|Aborted|INTERNAL)\b|"
    r"^[ \t]*error:|^Fatal Python error:|^[^\n]{0,80}: line \d+: +\d+ (?:Segmentation fault|Killed|Aborted)|"
    r"^[^\n]{0,200}Assertion `|^[FEW]\d{4} |^[^\n]{0,60}\b[EF] (?:tensorflow|external)/",
    re.MULTILINE,
)
_CLASS_BEFORE = re.compile(rf"(?:{_CLASS}|[Ee]rror|[Ww]arning)[`*\"']{{0,3}}:\s*[`*\"'(]{{0,3}}(?:\[[^\]\n]*\] ?)?$")
_TRACEBACK = re.compile(r"^(?:[ \t╭─]*|\w+ {2,})Traceback \(most recent call last\)", re.MULTILINE)
_LONGEST_STATEMENT = 4000

_PYTHON_FRAME = re.compile(r'^[ \t]*File "([^"\n]+)", line (\d+)(?:, in ([^\n]+))?', re.MULTILINE)
_NOTEBOOK_FRAME = re.compile(
    r"^(?:File )?(?:Cell )?(?P<cell>In ?\[\d+\]|<ipython-input-[^>\n]+>|"
    r"(?P<file>(?:[A-Za-z]:)?[~/.\w\\][^\s:*?\"<>|]*\.py))"
    r"(?:, line (?P<line>\d+)|:(?P<at>\d+)|(?= in ))(?:,? in (?P<function>[\w<>.]+))?",
    re.MULTILINE,
)
_ARROW = re.compile(r"^(?:-+>|❱) *\[?(\d+)\b", re.MULTILINE)
_LIBRARY = re.compile(
    r"(?:site|dist)-packages[/\\]|[/\\]lib(?:64)?[/\\]python\d|[/\\]Lib[/\\](?!site-packages)[\w/\\]+\.py$|"
    r"(?i:conda\d?|python\d+|envs[/\\][^/\\]+)[/\\]lib[/\\][\w/\\]+\.py$|^<(?!ipython)|"
    r"[/\\](?:s?bin|Scripts)[/\\][\w.-]+$|[/\\]runpy\.py$|^/usr/lib/|torch[/\\](?:nn|utils|optim|autograd|_\w+)[/\\]"
)
_RUNPY = re.compile(r"[/\\]runpy\.py$|^<frozen runpy>$")


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of the user's own that a traceback names."""

    path: str
    line: int
    function: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """`statements` are the spans of the text in which an error says itself what is wrong."""

    text: str
    statements: tuple[tuple[int, int], ...]
    frames: tuple[Frame, ...]

    @property
    def excerpt(self) -> str:
        """The text, or of a long one its two ends."""
        if len(self.text) <= _EXCERPT:
            return self.text
        return f"{self.text[: _EXCERPT // 2]}\n{self.text[-_EXCERPT // 2 :]}"

    @property
    def has_traceback(self) -> bool:
        return _TRACEBACK.search(self.text) is not None

    @property
    def runs_a_module(self) -> bool:
        """Does the last traceback begin in `python -m`, and go right on into a line of the user's?"""
        frames = _PYTHON_FRAME.finditer(self.text, _last_traceback(self.text))
        first, after = next(frames, None), None
        if first is None or not _RUNPY.search(first[1]):
            return False
        for after in frames:
            if not _RUNPY.search(after[1]):
                break
        return after is not None and not _LIBRARY.search(after[1])

    def statement_at(self, position: int) -> int | None:
        """Which statement this place of the text lies in, the last being the highest."""
        for number in range(len(self.statements) - 1, -1, -1):
            start, end = self.statements[number]
            if start <= position < end:
                return number
        return None

    def is_named(self, position: int) -> bool:
        """Does the class of an error stand right before this place, as in `I get RuntimeError: …`?"""
        return _CLASS_BEFORE.search(self.text, max(0, position - 120), position) is not None


def read(text: str) -> Reading:
    clean = cleaned(text)
    return Reading(clean, _statements(clean), _own_frames(clean))


def cleaned(text: str) -> str:
    if len(text) > _LONGEST:
        text = text[:_BEGINNING] + "\n" + text[_BEGINNING - _LONGEST :]
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if _ENTITIES.search(text):
        import html

        text = html.unescape(text)
    if not text.isascii():
        text = text.translate(_TYPESET)
    return _PREFIXES.sub("", text)


def _statements(text: str) -> tuple[tuple[int, int], ...]:
    starts = [found.start() for found in _STATEMENT.finditer(text)]
    spans = []
    for start, following in zip(starts, starts[1:] + [len(text)] * bool(starts), strict=True):
        traceback = _TRACEBACK.search(text, start, following)
        end = min(following, start + _LONGEST_STATEMENT, traceback.start() if traceback else following)
        spans.append((start, end))
    return tuple(spans)


def _own_frames(text: str) -> tuple[Frame, ...]:
    """The user's own lines in the last traceback, the outermost first."""
    found = [
        Frame(match[1], int(match[2]), (match[3] or "").strip())
        for match in _PYTHON_FRAME.finditer(text, _last_traceback(text))
    ]
    found += [*_notebook_frames(text)]
    return tuple(replace(frame, path=_from_here(frame.path)) for frame in found if not _LIBRARY.search(frame.path))


def _from_here(path: str) -> str:
    """As one would type it, if the file is below the folder one is in."""
    here = os.path.join(os.getcwd(), "")
    return path[len(here) :] if path.startswith(here) and os.path.exists(path) else path


def _last_traceback(text: str) -> int:
    """Where the last traceback with a line of the user's begins; a worker's own traceback comes without."""
    starts = [match.start() for match in _TRACEBACK.finditer(text)]
    for start in reversed(starts):
        if any(not _LIBRARY.search(match[1]) for match in _PYTHON_FRAME.finditer(text, start)):
            return start
    return 0


def _notebook_frames(text: str) -> list[Frame]:
    frames = []
    for match in _NOTEBOOK_FRAME.finditer(text):
        line = match["line"] or match["at"]
        if line is None:
            arrow = _ARROW.search(text, match.end(), match.end() + 2000)
            line = arrow[1] if arrow else "0"
        if match["file"] is None or _ARROW.search(text, match.end(), match.end() + 2000):
            frames.append(Frame(match["file"] or match["cell"], int(line), match["function"] or ""))
    return frames
