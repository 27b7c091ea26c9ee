"""Source lines on paper: numbers in a gutter, the expression underlined, colours where there are colours."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.style import Style
from rich.syntax import ANSISyntaxTheme, Syntax
from rich.text import Text

from sleuth.report import palette
from sleuth.report.excerpt import Row
from sleuth.report.layout import Paper

THEME = ANSISyntaxTheme(
    {
        ("Keyword",): Style(color=palette.KEYWORD),
        ("Operator", "Word"): Style(color=palette.KEYWORD),
        ("Literal", "String"): Style(color=palette.STRING),
        ("Literal", "Number"): Style(color=palette.NUMBER),
        ("Comment",): Style(color=palette.QUIET),
    }
)
# How much of a long line to keep before the expression, so that it does not stand alone.
_LEAD = 12


def snippet(rows: Sequence[Row], sheet: Paper, style: str, python: bool) -> list[Text]:
    """The rows with a gutter; `style` is the colour of the underlining."""
    digits = max((len(str(row.number)) for row in rows if row.number is not None), default=1)
    room = sheet.width - digits - len("   | ")
    shift = _shift(rows, room)
    shown: list[Text] = []
    for row, code in zip(rows, _coloured(rows, sheet.colour and python), strict=True):
        bar = (sheet.glyphs.thick_bar, style) if row.inside else (sheet.glyphs.bar, palette.QUIET)
        label = sheet.glyphs.ellipsis if row.number is None else str(row.number)
        shown.append(_gutter(label, digits, bar) + _window(code, shift, room, sheet))
        if row.mark:
            shown.append(_gutter("", digits, bar) + _underline(row, row.mark, shift, room, style))
    return shown


def highlighted(code: str) -> Text:
    """Python code in colours; the text stays exactly as it is."""
    text = Syntax("", "python", theme=THEME).highlight(code)
    text.right_crop(len(text) - len(code))
    return text if text.plain == code else Text(code)


def _coloured(rows: Sequence[Row], colour: bool) -> Sequence[Text]:
    if not colour or not rows:
        return [Text(row.text) for row in rows]
    # All at once: a string may run over several lines.
    return list(highlighted("\n".join(row.text for row in rows)).split("\n", allow_blank=True))


def _gutter(label: str, digits: int, bar: tuple[str, str]) -> Text:
    return Text.assemble((f"  {label[:digits]:>{digits}} ", palette.QUIET), bar, " ")


def _shift(rows: Sequence[Row], room: int) -> int:
    """How many letters to leave out on the left, so that what is underlined fits."""
    marked = next((row for row in rows if row.mark), None)
    if marked is None or marked.mark is None:
        return 0
    start, end = marked.mark
    if cell_len(marked.text) <= room or cell_len(marked.text[:end]) <= room - _LEAD // 2:
        return 0
    return max(0, start - _LEAD)


def _window(code: Text, shift: int, room: int, sheet: Paper) -> Text:
    if not shift:
        return sheet.crop(code, room)
    left = Text(sheet.glyphs.ellipsis, style=palette.QUIET)
    hidden = code.plain[: shift + len(left)].strip()
    return sheet.crop((left if hidden else Text(" " * len(left))) + code[shift + len(left) :], room)


def _underline(row: Row, mark: tuple[int, int], shift: int, room: int, style: str) -> Text:
    start, end = max(mark[0], shift), max(mark[1], shift + 1)
    indent = cell_len(row.text[shift:start])
    length = max(1, cell_len(row.text[start:end]))
    return Text(" " * indent) + Text("^" * max(1, min(length, room - indent)), style=style)
