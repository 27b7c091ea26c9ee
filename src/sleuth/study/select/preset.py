"""A preset: the steps of a selection, written as data that anyone may copy and change."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import ibis

from sleuth.study.corpus import COLUMNS
from sleuth.study.select import filters
from sleuth.study.select.values import BadFilter

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FOLDER = Path(__file__).parent / "presets"
_OWN = {"step", "published", "by_hand", "note"}
# A list is of alternatives, but for this.
_JOINED_BY = {"all": "and"}


class BadPreset(Exception):
    """`str()` of it is the one line to show."""


@dataclass(frozen=True)
class Step:
    """Filters that work together, and how many posts the paper had after them, in all or by kind."""

    title: str
    filters: Mapping[str, Any]
    published: int | Mapping[str, int] | None = None
    # Done by people who read: printed beside ours, not computed.
    by_hand: bool = False
    note: str = ""


@dataclass(frozen=True)
class Preset:
    """A named selection. `text` is the file it was read from."""

    name: str
    title: str
    steps: tuple[Step, ...]
    source: str = ""
    text: str = ""


def names() -> list[str]:
    """The presets that come with Sleuth."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def load(name_or_path: str | Path) -> Preset:
    """A preset that comes with Sleuth by its name, or your own by its path. Raises BadPreset."""
    known = str(name_or_path) in names()
    path = _FOLDER / f"{name_or_path}.toml" if known else Path(name_or_path)
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, IsADirectoryError):
        raise BadPreset(f"there is no preset {str(name_or_path)!r}; there are {', '.join(names())}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadPreset(f"{path} cannot be read: {error}") from None
    return parse(text, path.stem, str(name_or_path))


def parse(text: str, name: str, where: str) -> Preset:
    """The preset that a text in TOML holds; `where` it stands is for the error. Raises BadPreset."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadPreset(f"{where} is not TOML: {error}") from None
    steps = data.get("step")
    if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
        raise BadPreset(f"{where} has no [[step]]")
    if surplus := set(data) - {"name", "title", "source", "step"}:
        raise BadPreset(f"{where}: {', '.join(sorted(surplus))} must stand within a [[step]]")
    checked = tuple(_step(step, f"{where}, step {number}") for number, step in enumerate(steps, 1))
    name = str(data.get("name", name))
    return Preset(name, str(data.get("title", name)), checked, str(data.get("source", "")), text)


def step_of(wanted: Mapping[str, Any], title: str | None = None) -> Step:
    """A step made of filters alone; without a title they name themselves. Raises BadFilter."""
    filters.keep(_any_posts(), wanted)
    return Step(title or ", ".join(f"{name} {_said(value)}".rstrip() for name, value in wanted.items()), wanted)


def _step(data: dict[str, Any], where: str) -> Step:
    wanted = {name: value for name, value in data.items() if name not in _OWN}
    title, by_hand, published = data.get("step"), data.get("by_hand", False), data.get("published")
    if title is not None and not isinstance(title, str):
        raise BadPreset(f"{where}: step is its title, not {title!r}")
    if by_hand is not True and by_hand is not False:
        raise BadPreset(f"{where}: by_hand is true or false, not {by_hand!r}")
    if by_hand == bool(wanted):
        raise BadPreset(f"{where} needs filters, or by_hand = true where people chose; not both")
    if published is not None and not _is_count(published):
        raise BadPreset(f"{where}: published is a number of posts, in all or by kind, not {published!r}")
    try:
        described = step_of(wanted, title)
    except BadFilter as error:
        raise BadPreset(f"{where}: {error}") from None
    return Step(described.title or "chosen by hand", wanted, published, by_hand, str(data.get("note", "")))


def _is_count(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value) and all(_is_count(one) and not isinstance(one, dict) for one in value.values())
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _said(value: Any, joined: str = "or") -> str:
    """A filter's value in a few words: `any tensorflow* or pytorch`, `all keras and gpu`."""
    if value is True:
        return ""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_said(inner, _JOINED_BY.get(name, 'or'))}".rstrip() for name, inner in value.items())
    if isinstance(value, list):
        return f" {joined} ".join(_said(inner) for inner in value)
    return "no" if value is False else str(value)


@cache
def _any_posts() -> Any:
    return ibis.table(ibis.Schema.from_pyarrow(COLUMNS), name="posts")
