"""How amounts are said: bytes, and numbers that are too long to read."""

from __future__ import annotations

_BYTES = ("bytes", "KB", "MB", "GB", "TB")
_THOUSANDS = ("", "k", "M", "G", "T", "P", "E")


def in_bytes(size: float) -> str:
    """`23.4 GB`, in the unit that fits. As makers of cards count: 1 GB is 1,024 MB."""
    amount, unit = float(size), 0
    while abs(amount) >= 1000 and unit < len(_BYTES) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:,.0f} bytes" if unit == 0 else f"{_three_digits(amount)} {_BYTES[unit]}"


def in_thousands(number: float) -> str:
    """`25.6 M` for 25,557,032."""
    amount, unit = float(number), 0
    while abs(amount) >= 1000 and unit < len(_THOUSANDS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:,.0f}" if unit == 0 else f"{_three_digits(amount)} {_THOUSANDS[unit]}"


def _three_digits(amount: float) -> str:
    return f"{amount:,.0f}" if abs(amount) >= 100 else f"{amount:.3g}"
