"""A small SVG writer. It gives every mark a class and no colour: the page's style says what a class looks like."""

from __future__ import annotations

import re
from html import escape

SMALL = 12.0
PLAIN = 13.0
SERIES = 8

# Widths in parts of the font's size, of DejaVu Sans: the widest of the fonts that a browser may take.
_NARROW = frozenset("ijlI.,:;'|!()[]{} -/\\")
_THIN = frozenset('frt"*')
_WIDE = frozenset("mwMW@%—…")
_MARGIN = 1.02
# What XML may not hold, even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def safe(text: object) -> str:
    """Text that may stand in HTML and in XML, as content or as an attribute."""
    return escape(_FORBIDDEN.sub("\ufffd", str(text)))


def width_of(text: str, size: float = PLAIN) -> float:
    """How wide a line of text will be, about."""
    return sum(_character(character) for character in text) * size * _MARGIN


def shortened(text: str, room: float, size: float = PLAIN) -> str:
    """The text, or as much of it as there is room for."""
    if width_of(text, size) <= room:
        return text
    while text and width_of(text + "…", size) > room:
        text = text[:-1]
    return text.rstrip() + "…"


def wrapped(text: str, room: float, size: float = PLAIN, lines: int = 2) -> list[str]:
    """The text on so many lines; what does not fit is cut off, with a sign that it is."""
    done: list[str] = []
    line = ""
    # Names such as `model-training/learning-rate` may be broken where their parts meet.
    words = re.findall(r"\S+?(?:[-/]+(?=\S)|(?=\s|$))\s*", text)
    for index, word in enumerate(words):
        longer = line + word
        if line and width_of(longer.rstrip(), size) > room:
            if len(done) == lines - 1:
                return [*done, shortened(line + "".join(words[index:]), room, size)]
            done.append(shortened(line.rstrip(), room, size))
            line = word
        else:
            line = longer
    return [*done, shortened(line.rstrip(), room, size)]


class Canvas:
    """Marks in the order they were made."""

    def __init__(self, width: float) -> None:
        self.width = width
        self._marks: list[str] = []

    def text(
        self, x: float, y: float, text: str, kind: str = "label", anchor: str = "start", turn: float = 0, tip: str = ""
    ) -> None:
        if not text:
            return
        at = f'x="{_at(x)}" y="{_at(y)}"'
        turned = f' transform="rotate({_at(turn)} {_at(x)} {_at(y)})"' if turn else ""
        aligned = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._marks.append(f'<text {at} class="{kind}"{aligned}{turned}>{_tip(tip)}{safe(text)}</text>')

    def rect(self, x: float, y: float, width: float, height: float, kind: str, tip: str = "") -> None:
        if width < 0:
            x, width = x + width, -width
        size = f'width="{_at(width)}" height="{_at(height)}"'
        self._mark("rect", f'x="{_at(x)}" y="{_at(y)}" {size} class="{kind}"', tip)

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        self._mark("line", f'x1="{_at(x1)}" y1="{_at(y1)}" x2="{_at(x2)}" y2="{_at(y2)}" class="{kind}"')

    def path(self, points: list[tuple[float, float]], kind: str) -> None:
        places = " L".join(f"{_at(x)} {_at(y)}" for x, y in points)
        self._mark("path", f'd="M{places}" class="{kind}"')

    def marker(self, x: float, y: float, index: int, tip: str = "", size: float = 4.5) -> None:
        """A point whose shape, and not its colour alone, tells which series it is of."""
        shape = _SHAPES[index % len(_SHAPES)]
        points = " ".join(f"{_at(x + dx * size)},{_at(y + dy * size)}" for dx, dy in shape)
        kind = f"marker {series_class(index)}"
        if not shape:
            self._mark("circle", f'cx="{_at(x)}" cy="{_at(y)}" r="{_at(size * 0.9)}" class="{kind}"', tip)
        else:
            self._mark("polygon", f'points="{points}" class="{kind}"', tip)

    def svg(self, height: float, alternative: str, kind: str = "") -> str:
        """The whole picture; `alternative` says in words what it shows."""
        box = f'viewBox="0 0 {_at(self.width)} {_at(height)}" width="{_at(self.width)}" height="{_at(height)}"'
        named = f'class="{kind}" ' if kind else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {named}{box} role="img" aria-label="{safe(alternative)}">'
            + "".join(self._marks)
            + "</svg>"
        )

    def _mark(self, name: str, attributes: str, tip: str = "") -> None:
        self._marks.append(f"<{name} {attributes}>{_tip(tip)}</{name}>" if tip else f"<{name} {attributes}/>")


def series_class(index: int) -> str:
    """Beyond the colours there are, they begin again with a pattern of their own."""
    again = " again" if index >= SERIES else ""
    return f"s{index % SERIES}{again}"


def _tip(text: str) -> str:
    return f"<title>{safe(text)}</title>" if text else ""


def _at(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _character(character: str) -> float:
    if character in _NARROW:
        return 0.36
    if character in _THIN:
        return 0.42
    if character in _WIDE:
        return 1.0
    if ord(character) > 0x2E80:
        return 1.05
    return 0.72 if character.isupper() else 0.62


_SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (
    (),
    ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    ((0, -1.1), (1.05, 0.8), (-1.05, 0.8)),
    ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)),
    ((0, 1.1), (1.05, -0.8), (-1.05, -0.8)),
    ((0, -1.2), (0.35, -0.35), (1.2, 0), (0.35, 0.35), (0, 1.2), (-0.35, 0.35), (-1.2, 0), (-0.35, -0.35)),
    ((0, -1.1), (1.05, -0.34), (0.65, 0.9), (-0.65, 0.9), (-1.05, -0.34)),
    ((-1.1, 0), (-0.55, -0.95), (0.55, -0.95), (1.1, 0), (0.55, 0.95), (-0.55, 0.95)),
)
