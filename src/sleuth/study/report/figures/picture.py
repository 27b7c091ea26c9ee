"""A figure as a file of its own: with its colours inside, light or dark as the reader's screen is."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from sleuth.study.report.figures.canvas import safe

_FOLDER = Path(__file__).parent


def picture(svg: str) -> str:
    """A whole SVG file."""
    opening, rest = svg.split(">", 1)
    label = re.search('aria-label="([^"]*)"', opening)
    title = f"<title>{label[1]}</title>" if label else ""
    return f'{opening}>{title}<style>{safe(_style())}</style><rect width="100%" height="100%" class="ground"/>{rest}\n'


@cache
def _style() -> str:
    page = (_FOLDER.parent / "page.css").read_text(encoding="utf-8")
    figures = (_FOLDER / "figures.css").read_text(encoding="utf-8")
    # The page's own style begins where its colours end.
    colours = page[: page.index("* {")]
    return f"{colours}.ground {{ fill: var(--panel); }}\n{figures}"
