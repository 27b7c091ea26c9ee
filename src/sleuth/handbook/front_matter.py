"""The TOML at the head of a handbook page, read without a TOML parser wherever it is simple enough."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FENCE = "+++\n"


def split(source: str) -> tuple[dict[str, Any], str]:
    """The front matter of a page, and the text that follows it."""
    before, *rest = source.split(_FENCE, 2)
    if before.strip() or len(rest) != 2:
        raise ValueError("a page begins with its front matter between two +++ lines")
    front, text = rest
    matter = _simple(front)
    return (_any_toml(front) if matter is None else matter), text.strip() + "\n"


def _simple(front: str) -> dict[str, Any] | None:
    """Plain strings and lists of plain strings, as all our pages use; None for anything else.

    `sleuth explain` reads every page, and importing tomllib alone would take longer than all of them.
    """
    matter: dict[str, Any] = {}
    lines = iter(front.splitlines())
    for line in lines:
        if not line.strip():
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        while value.startswith("[") and not value.endswith("]"):
            following = next(lines, None)
            if following is None:
                return None
            value += " " + following.strip()
        parsed = _strings(value[1:-1]) if value.startswith("[") else _string(value)
        if not equals or parsed is None or key in matter or not key.replace("_", "").isalpha() or not key.isascii():
            return None
        matter[key] = parsed
    return matter


def _string(value: str) -> str | None:
    quoted = _strings(value)
    return quoted[0] if quoted is not None and len(quoted) == 1 and value.endswith('"') else None


def _strings(value: str) -> list[str] | None:
    """The items of `"a", "b"`, or None where it is not exactly that."""
    pieces = value.split('"')
    between, items = pieces[::2], pieces[1::2]
    plain = all(item.isprintable() and "\\" not in item for item in items)
    if not items:
        return None if value.strip() else []
    separated = all(piece.strip() == "," for piece in between[1:-1])
    closed = len(pieces) % 2 == 1 and not between[0].strip() and between[-1].strip() in ("", ",")
    return items if plain and separated and closed else None


def _any_toml(front: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(front)
