"""Rows as text in aligned columns: words to the left, numbers to the right."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1, indent: str = "  ") -> str:
    """A table; the first `words` columns hold words, the others numbers."""
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    lines = []
    for row in [header, *rows]:
        cells = [
            cell.ljust(width) if column < words else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((indent + "  ".join(cells)).rstrip() + "\n")
    return "".join(lines)


def number(value: float | None, digits: int = 3) -> str:
    """A coefficient as papers print it, and a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"
