"""The comment that silences a finding on its line, put where Python reads it as a comment."""

from __future__ import annotations

import io
import re
import tokenize

from sleuth.findings import Edit, Finding, Place

_OURS = re.compile(r"#\s*sleuth:\s*ignore\[([^\]]*)\]")
# Python 3.12 gives an f-string, 3.14 also a t-string, as its pieces.
_OPENING = {getattr(tokenize, name, -1) for name in ("FSTRING_START", "TSTRING_START")}
_CLOSING = {getattr(tokenize, name, -1) for name in ("FSTRING_END", "TSTRING_END")}


def edit(finding: Finding, text: str) -> Edit | None:
    """Adds the comment, or the name to one that is there. None where no line of the finding can have one."""
    place = finding.place
    if place is None:
        return None
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    lines = text.split("\n")
    closed = _inside_strings(tokens)
    for number in range(place.line, min(place.end_line or place.line, len(lines)) + 1):
        comment = next((one for one in tokens if one.type == tokenize.COMMENT and one.start[0] == number), None)
        if comment is not None:
            return _joined(finding.diagnosis, place, number, comment)
        line = lines[number - 1]
        if number not in closed and not line.endswith("\\"):
            return _appended(finding.diagnosis, place, number, len(line.rstrip()), len(line))
    return None


def _joined(diagnosis: str, place: Place, number: int, comment: tokenize.TokenInfo) -> Edit:
    """Into the brackets of our own comment, or behind somebody else's."""
    start, end = comment.start[1], comment.end[1]
    ours = _OURS.search(comment.string)
    if ours is None:
        return _appended(diagnosis, place, number, start + len(comment.string.rstrip()), end)
    names = [name.strip() for name in ours[1].split(",") if name.strip()]
    replacement = ", ".join((*names, diagnosis))
    return Edit(place.path, number, start + ours.start(1) + 1, number, start + ours.end(1) + 1, replacement)


def _appended(diagnosis: str, place: Place, number: int, start: int, end: int) -> Edit:
    return Edit(place.path, number, start + 1, number, end + 1, f"  # sleuth: ignore[{diagnosis}]")


def _inside_strings(tokens: list[tokenize.TokenInfo]) -> set[int]:
    """The lines whose end lies inside a string."""
    inside: set[int] = set()
    opened: list[int] = []
    for token in tokens:
        if token.type == tokenize.STRING:
            inside.update(range(token.start[0], token.end[0]))
        elif token.type in _OPENING:
            opened.append(token.start[0])
        elif token.type in _CLOSING:
            inside.update(range(opened.pop(), token.end[0]))
    return inside
