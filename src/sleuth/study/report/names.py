"""Names of files for tables and pictures."""

from __future__ import annotations

import re

# Windows takes 255 characters with the folder; nothing of ours comes near.
_LONGEST = 120


def file_name(name: str) -> str:
    """`distribution:liu.phase` becomes `distribution.liu.phase`: letters that every file system takes."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name.replace(":", ".")).strip(".-")[:_LONGEST] or "table"


def file_names(names: list[str]) -> list[str]:
    """One each, and no two alike, even where capitals do not count."""
    taken: set[str] = set()
    found = []
    for name in map(file_name, names):
        candidate, number = name, 2
        while candidate.lower() in taken:
            candidate, number = f"{name}-{number}", number + 1
        taken.add(candidate.lower())
        found.append(candidate)
    return found
