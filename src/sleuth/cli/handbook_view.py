"""The handbook as a terminal shows it."""

from __future__ import annotations

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from sleuth.cli import streams
from sleuth.handbook import Page

_WIDEST = 100


def _console() -> Console:
    return Console(force_terminal=True, width=min(streams.width(), _WIDEST))


def print_page(page: Page, text: str) -> None:
    facts = " · ".join((page.name, page.kind, page.root_cause, page.stage, page.effect))
    console = _console()
    with console.capture() as rendered:
        console.print(Markdown(text, code_theme="ansi_dark"))
        console.print()
        console.print(Text(facts, style="dim"))
    streams.show(rendered.get())


def print_list(grouped: dict[str, list[Page]]) -> None:
    widest = max(len(page.name) for pages in grouped.values() for page in pages)
    console = _console()
    with console.capture() as rendered:
        for number, (root_cause, pages) in enumerate(grouped.items()):
            console.print(Text(("\n" if number else "") + root_cause, style="bold"))
            table = Table.grid(padding=(0, 2))
            table.add_column(min_width=widest + 2, no_wrap=True)
            table.add_column()
            for page in pages:
                table.add_row(Text(f"  {page.name}", style="cyan"), Text(page.title))
            console.print(table)
    streams.show(rendered.get())
