"""How the numbers of a report are written: the same way in a table, in a figure and in a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

MISSING = "–"
MINUS = "\N{MINUS SIGN}"
# Within this many digits a number is exact enough to be compared by eye.
_DIGITS = 3


def is_number(value: Any) -> bool:
    """A number one can draw: no truth value, no NaN, no infinity."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def said(value: Any, column: str = "", places: int | None = None) -> str:
    """A cell of a table; with so many digits after the point, where its column has a number of them."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(said(item, column) for item in value)
    if not isinstance(value, int | float):
        return str(value)
    if is_percent(column):
        return _minus(f"{value:,.1f}")
    if is_year(column) and float(value).is_integer():
        return str(int(value))
    return number(value) if places is None or not math.isfinite(value) else to_places(value, places)


def number(value: float) -> str:
    """`1,125`, `0.0312`, `639.5`: whole numbers whole, others to three digits, never in powers of ten if avoidable."""
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if float(value).is_integer() and abs(value) < 1e15:
        return _minus(f"{int(value):,}")
    size = abs(value)
    if size >= 1e15 or size < 1e-4:
        return _minus(f"{value:.2e}")
    if size >= 100:
        return _minus(f"{value:,.1f}")
    places = _DIGITS - 1 - math.floor(math.log10(size))
    return _minus(f"{value:.{places}f}")


def signed(value: float, places: int | None = None) -> str:
    """A difference: with its sign, and 0 without one."""
    text = number(value) if places is None else to_places(value, places)
    return "0" if not value else f"+{text}" if value > 0 else text


def places_for(values: Iterable[Any]) -> int:
    """How many digits after the point the numbers of one column get: all of them, or enough to tell three."""
    known = [abs(float(value)) for value in values if is_number(value)]
    needed = max((digits_of(value) for value in known), default=0)
    sizes = sorted(value for value in known if value)
    if not needed or not sizes:
        return 0
    return min(needed, max(1, _DIGITS - 1 - math.floor(math.log10(sizes[len(sizes) // 2]))))


def to_places(value: float, places: int) -> str:
    """A number of a column; too small for its digits it is written out, so that it is not taken for nothing."""
    text = f"{value:,.{places}f}"
    return number(value) if value and not float(text.replace(",", "")) else _minus(text)


def digits_of(value: float) -> int:
    """How many digits after the point it needs, up to four."""
    return len(f"{value:.4f}".rstrip("0").partition(".")[2])


def percent(part: float, whole: float) -> str:
    """`24.4 %`; less than a thousandth is not nothing."""
    if not whole:
        return MISSING
    share = 100 * part / whole
    return "< 0.1 %" if 0 < share < 0.05 else f"{share:.1f} %"


def is_percent(column: str) -> bool:
    """Its numbers are of a hundred."""
    return column.rstrip().endswith("%") or column.lower().startswith("percent")


def is_year(column: str) -> bool:
    return column.lower() in ("year", "years", "created")


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 post`, `2,401 posts`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _minus(text: str) -> str:
    return text.replace("-", MINUS) if text.startswith("-") else text
