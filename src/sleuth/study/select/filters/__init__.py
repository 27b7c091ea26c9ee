"""The filters, one file a family: what it is called in a preset, examples of it, and which posts it keeps."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, Protocol

import ibis

from sleuth.study.select.values import BadFilter


class Family(Protocol):
    """A module here. `KEYS`: what each filter keeps, by name; `EXAMPLES`: ways to write them."""

    KEYS: dict[str, str]
    EXAMPLES: tuple[dict[str, Any], ...]

    def keep(self, posts: Any, name: str, value: Any) -> Any:
        """A boolean for each post, never null. Raises BadFilter."""


@cache
def families() -> dict[str, Family]:
    """Each filter's module, by the filter's name."""
    modules = [import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    return {name: module for module in modules for name in module.KEYS}


def keep(posts: Any, wanted: Mapping[str, Any]) -> Any:
    """The posts that all these filters keep, as a boolean. Raises BadFilter."""
    kept = [_one(posts, name, value) for name, value in wanted.items()]
    return ibis.and_(*kept) if kept else ibis.literal(True)


def _one(posts: Any, name: str, value: Any) -> Any:
    family = families().get(name)
    if family is None:
        raise BadFilter(f"there is no filter {name!r}; there are {', '.join(sorted(families()))}")
    return family.keep(posts, name, value)
