"""What libraries renamed, deprecated and removed: read from the TOML files beside this one, one a library.

A file begins with `library`. Its tables are

    [[name]]        a dotted name:   old, new, since, removed …
    [[group]]       many of them:    old and new with {} in them, and `names` (or `pairs` of an old and a new ending)
    [[argument]]    an argument:     of (callables), old, new, values … (or `pairs` of an old and a new name)
    [[method]]      a method:        on (kinds of receivers), old, new …
    [[hook]]        a method that a framework no longer calls: of (base classes), old, new …
    [[needed]]      an argument that must now be given: of (callables), old (its name), value …
    [lists]         callables that several entries speak of, as "@name" in `of`

A callable may be "keras.Model().fit", a method of what that class makes, or "*.from_pretrained", a method of anything
that the library has.

`since` is the first version that discourages the old way, `removed` the first without it, `back` the first in which it
is good again, `arrived` the first that has the new way. Each entry names its `source`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from sleuth.source.versions import Release, release

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FOLDER: Final = os.path.dirname(__file__)
_VERSIONS: Final = ("since", "removed", "back", "arrived")
# The same library under the names it can be imported by, the one our tables use first.
_SPELLINGS: Final = {
    "keras": ("keras", "tensorflow.keras"),
    "lightning": ("lightning", "pytorch_lightning", "lightning.pytorch"),
}


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is no longer done as it was."""

    library: str
    old: str
    source: str
    new: str = ""  # a dotted name, or without a dot an expression; "" where nothing took its place
    since: Release | None = None
    removed: Release | None = None
    back: Release | None = None
    arrived: Release | None = None
    advice: str = ""  # what to do, where "use <new>" does not say it
    rewrite: bool = True  # may the new name simply be written in place of the old?
    safe: bool = False  # and does the program then do exactly the same?
    discouraged: bool = False  # nobody warns; the documentation only prefers the new way
    standalone: bool = False  # of the `keras` package only: inside TensorFlow the old name is still there


@dataclass(frozen=True, slots=True)
class Rename(Change):
    """A dotted name."""

    called: bool = False  # only a call of it is meant: the name has another meaning today
    first: str = ""  # written as the first argument of a call of the new name
    keyword: str = ""  # written as a further argument
    suffix: str = ""  # written after the new name
    positional: tuple[str, ...] = ()  # names that positional arguments get, where the new order differs
    most: int | None = None  # calls with more arguments, or with named ones, are left to the reader
    ignores: tuple[str, ...] = ()  # named arguments that may be left out
    template: str = ""  # the whole call, written anew: {0}, {1} … its arguments, {args} all, {new}, {=another.name}
    ending: str = ""  # the new ending, where it came from the pairs of a group


@dataclass(frozen=True, slots=True)
class Argument(Change):
    """An argument of some callables."""

    of: tuple[str, ...] = ()
    position: int | None = None  # where it stands among the positional ones; a bool there is meant too
    given: tuple[str, ...] = ()  # only these values are meant
    values: Mapping[str, str] | None = None  # how literal values are written under the new name; "" to leave it out
    drop: bool = False  # leaving it out is all there is to do
    alone: bool = False  # rewritten only where no other argument of the same call is outdated


@dataclass(frozen=True, slots=True)
class Method(Change):
    """A method of an object of the library."""

    on: tuple[str, ...] = ()  # "module", "tensor", "?" …: what the receiver may be
    makers: tuple[str, ...] = ()  # and what it was made by, where that is known
    template: str = ""  # the whole call, written anew: {self} is the receiver


@dataclass(frozen=True, slots=True)
class Hook(Change):
    """A method that users define in their own class and the library no longer calls."""

    of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Needed(Change):
    """An argument that used to have a default; `since` leaving it out warns, `removed` it fails."""

    of: tuple[str, ...] = ()
    position: int = 0  # where it stands among the positional ones
    value: str = ""  # what to give
    wrap: str = ""  # the name of a function around the call that gives the old result


def spellings(name: str, *, standalone: bool = False) -> tuple[str, ...]:
    """A dotted name of our tables as programs may write it."""
    root, _, rest = name.partition(".")
    prefixes = (root,) if standalone else _SPELLINGS.get(root, (root,))
    return tuple(f"{prefix}.{rest}" if rest else prefix for prefix in prefixes)


@cache
def names() -> Mapping[str, Rename]:
    """Every dotted name that changed, in every spelling."""
    found: dict[str, Rename] = {}
    for change in _all("name", Rename):
        for spelling in spellings(change.old, standalone=change.standalone):
            found[spelling] = change
    return found


@cache
def arguments() -> Mapping[str, Mapping[str, tuple[Argument, ...]]]:
    """By callable, then by the old argument."""
    found: dict[str, dict[str, tuple[Argument, ...]]] = {}
    for change in _all("argument", Argument):
        for callable_ in change.of:
            known = found.setdefault(callable_, {})
            known[change.old] = (*known.get(change.old, ()), change)
    return found


@cache
def all_methods() -> Mapping[str, Method]:
    return {change.old: change for change in _all("method", Method)}


@cache
def hooks() -> tuple[Hook, ...]:
    return tuple(_all("hook", Hook))


@cache
def needed() -> Mapping[str, Needed]:
    """By callable."""
    return {callable_: change for change in _all("needed", Needed) for callable_ in change.of}


def _all(table: str, kind: type[Any]) -> Iterator[Any]:
    for data in _files():
        for entry in _entries(data, table):
            yield kind(library=data["library"], **_settled(entry))


def _entries(data: Mapping[str, Any], table: str) -> Iterator[dict[str, Any]]:
    for entry in data.get(table, ()):
        shared = {key: value for key, value in entry.items() if key != "pairs"}
        if "of" in shared:
            shared["of"] = [name for one in entry["of"] for name in _listed(one, data)]
        if entry.get("drop"):
            # To leave it out is right only where it has lost its meaning.
            shared.setdefault("arrived", entry.get("since", entry.get("removed")))
        if "pairs" in entry:
            yield from (shared | {"old": old, "new": new} for old, new in entry["pairs"].items())
        else:
            yield shared
    yield from _from_groups(data) if table == "name" else ()


def _listed(name: str, data: Mapping[str, Any]) -> list[str]:
    return list(data["lists"][name[1:]]) if name.startswith("@") else [name]


def _from_groups(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for group in data.get("group", ()):
        shared = {key: value for key, value in group.items() if key not in ("names", "pairs")}
        endings = {name: name for name in group.get("names", ())} | group.get("pairs", {})
        for old, new in endings.items():
            made = shared | {"old": shared["old"].format(old), "new": shared.get("new", "").format(new), "ending": new}
            if "{new}" in made.get("advice", ""):
                made["advice"] = made["advice"].replace("{new}", made["new"] or new)
            yield made


def _settled(entry: dict[str, Any]) -> dict[str, Any]:
    for key in _VERSIONS:
        if key in entry:
            entry[key] = release(entry[key])
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}


@cache
def _files() -> tuple[dict[str, Any], ...]:
    found = []
    for name in sorted(os.listdir(_FOLDER)):
        if name.endswith(".toml"):
            with open(os.path.join(_FOLDER, name), "rb") as file:
                found.append(tomllib.load(file))
    return tuple(found)
