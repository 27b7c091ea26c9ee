"""How people put what the handbook's pages are about, in `phrases.toml`: a diagnosis, and some ways of saying it."""

from __future__ import annotations

import os
import sys
from functools import cache

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FILE = os.path.join(os.path.dirname(__file__), "phrases.toml")


@cache
def phrases() -> dict[str, tuple[str, ...]]:
    with open(_FILE, "rb") as file:
        return {name: tuple(ways) for name, ways in tomllib.load(file).items()}
