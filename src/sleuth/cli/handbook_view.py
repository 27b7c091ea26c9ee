"""The handbook as a terminal shows it."""

from __future__ import annotations

import re

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from sleuth.cli import streams
from sleuth.handbook import Page
from sleuth.report import palette
from sleuth.report.snippet import THEME

_WIDEST = 100
_STYLES = Theme(
    {
        "markdown.h1": "bold",
        "markdown.h2": f"bold {palette.KEYWORD}",
        "markdown.h3": "bold",
        "markdown.code": f"bold {palette.NOTE}",
        "markdown.code_block": "none",
        "markdown.link": palette.NOTE,
        "markdown.link_url": palette.QUIET,
        "markdown.item.bullet": palette.QUIET,
        "markdown.item.number": palette.QUIET,
        "markdown.block_quote": palette.QUIET,
    }
)
# The code that goes wrong, and the code that does not.
_BLOCK = re.compile(r"^```python (before|after)$", re.MULTILINE)


def drawn_page(page: Page, text: str) -> str:
    facts = " · ".join((page.name, page.kind, page.root_cause, page.stage, page.effect))
    labelled = _BLOCK.sub(lambda block: f"**{block[1].capitalize()}:**\n\n```python", text)
    console = _console()
    with console.capture() as rendered:
        console.print(Markdown(labelled, code_theme=THEME))  # type: ignore[arg-type]  # a theme is taken, too
        console.print()
        console.print(Text(facts, style=palette.QUIET))
    return rendered.get()


def drawn_list(grouped: dict[str, list[Page]]) -> str:
    widest = max(len(page.name) for pages in grouped.values() for page in pages)
    console = _console()
    with console.capture() as rendered:
        for number, (root_cause, pages) in enumerate(grouped.items()):
            console.print(Text(("\n" if number else "") + root_cause, style="bold"))
            table = Table.grid(padding=(0, 2))
            table.add_column(min_width=widest + 2, no_wrap=True)
            table.add_column()
            for page in pages:
                table.add_row(Text(f"  {page.name}", style=palette.NOTE), Text(page.title))
            console.print(table)
    return rendered.get()


def _console() -> Console:
    return Console(force_terminal=True, color_system="256", theme=_STYLES, width=min(streams.width(), _WIDEST))
