"""The paper a terminal report is written on: its width, its glyphs, and wrapping with a hanging indent."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from sleuth.report import formulas, palette

# Below this many columns a text is folded no further: one word a line helps nobody.
_NARROWEST = 10


@dataclass(frozen=True, slots=True)
class Glyphs:
    arrow: str
    bar: str
    thick_bar: str
    rule: str
    branch: str
    stem: str
    last: str
    ellipsis: str


ASCII = Glyphs("-->", "|", ">", "-", "|- ", "|  ", "`- ", "...")
DRAWN = Glyphs("──▸", "│", "┃", "─", "├─ ", "│  ", "╰─ ", "…")


@dataclass(frozen=True, slots=True)
class Paper:
    console: Console
    width: int
    glyphs: Glyphs
    colour: bool
    root: Path

    def hang(self, head: Text, body: Text, rest: Text) -> list[Text]:
        """The body wrapped, its first line after `head`, the others after `rest`."""
        room = max(_NARROWEST, self.width - max(head.cell_len, rest.cell_len))
        whole = body.copy()
        whole.plain = formulas.glued(body.plain, room)
        wrapped = list(whole.wrap(self.console, room, overflow="fold")) or [Text()]
        for line in wrapped:
            line.plain = line.plain.replace(formulas.GLUE, " ")
        return [Text.assemble(rest if index else head, line) for index, line in enumerate(wrapped)]

    def crop(self, text: Text, room: int) -> Text:
        """The text cut to so many columns, an ellipsis showing that it was."""
        if text.cell_len <= room:
            return text
        short = text.copy()
        short.truncate(max(1, room - len(self.glyphs.ellipsis)), overflow="crop")
        return short.append(self.glyphs.ellipsis, style=palette.QUIET)


def paper(colour: bool, width: int, root: Path) -> Paper:
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=colour,
        # Rich would put an empty output into a notebook for what is only captured here.
        force_jupyter=False,
        color_system="256" if colour else None,
        legacy_windows=False,
        markup=False,
        highlight=False,
        emoji=False,
        # The caller has decided about colour: NO_COLOR and FORCE_COLOR must not decide again.
        _environ={},
    )
    return Paper(console, width, DRAWN if colour else ASCII, colour, root)


def printed(sheet: Paper, lines: list[Text]) -> str:
    with sheet.console.capture() as capture:
        for line in lines:
            line.rstrip()
            sheet.console.print(line, soft_wrap=True)
    return capture.get().rstrip("\n")
