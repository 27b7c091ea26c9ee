"""Regular expressions that say the same to RE2 (DuckDB) and to Java (Spark).

The two disagree on `\\b`, `\\s`, `.`, `$` and `(?i)` beyond ASCII, so that none of them is used: both cases of a letter
are spelt out, and a word ends where no ASCII letter, digit or underscore follows."""

from __future__ import annotations

_BLANK = "[ \t\n\r\u00a0]+"
_OUTSIDE = "[^0-9A-Za-z_]"


def word(*phrases: str) -> str:
    """Finds any of these words or phrases, in either case, as words of their own."""
    return f"(^|{_OUTSIDE})({_any(phrases)})({_OUTSIDE}|$)"


def start(*phrases: str) -> str:
    """Finds a text whose first word is one of these."""
    return f"^[ \t]*({_any(phrases)})({_OUTSIDE}|$)"


def whole(globs: list[str], between: str) -> str:
    """Finds an item that is like one of these (`*`: anything) in items that stand between such marks."""
    return f"{between}({'|'.join(_like(glob, between) for glob in globs)}){between}"


def _any(phrases: tuple[str, ...]) -> str:
    return "|".join(_BLANK.join(_spelt(part) for part in phrase.split()) for phrase in phrases)


def _like(glob: str, between: str) -> str:
    return f"[^{between}]*".join(_spelt(part) for part in glob.split("*"))


def _spelt(text: str) -> str:
    return "".join(_letter(letter) for letter in text)


def _letter(letter: str) -> str:
    if letter.isascii() and letter.isalpha():
        return f"[{letter.lower()}{letter.upper()}]"
    if letter in "[]^\\":
        return f"\\{letter}"
    return f"[{letter}]" if letter in ".+*?(){}|$" else letter
