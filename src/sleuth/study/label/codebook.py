"""Codebooks: the questions that raters answer, the labels they may choose, and the rules that decide between them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FOLDER = Path(__file__).parent / "codebooks"
_FIELDS = {"name", "title", "question", "source", "choose", "rules", "label"}
_LABEL_FIELDS = {"name", "title", "key", "definition", "examples", "within", "fixes"}


class BadCodebook(Exception):
    """`str()` of it is the one line to show."""


@dataclass(frozen=True)
class Choice:
    """One label. `key` is what a rater presses for it."""

    name: str
    title: str
    key: str
    definition: str
    examples: tuple[str, ...] = ()
    # The label that this one is a part of.
    within: str | None = None
    # How such a problem is put right, where a study says so.
    fixes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Codebook:
    """A question with its labels."""

    name: str
    title: str
    question: str
    source: str
    choose: Literal["one", "many"]
    rules: tuple[str, ...]
    labels: tuple[Choice, ...]

    @cached_property
    def _by_name(self) -> dict[str, Choice]:
        return {label.name: label for label in self.labels}

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Choice:
        return self._by_name[name]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def under(self, parent: str | None) -> tuple[Choice, ...]:
        """The labels within that one; those at the top for None."""
        return tuple(label for label in self.labels if label.within == parent)

    @property
    def choosable(self) -> tuple[Choice, ...]:
        """The labels that a post can get: those that have no parts."""
        parents = {label.within for label in self.labels}
        return tuple(label for label in self.labels if label.name not in parents)

    def top(self, name: str) -> str:
        """The outermost label that this one lies in: its own name where it lies in none."""
        while (parent := self._by_name[name].within) is not None:
            name = parent
        return name


def codebook_names() -> list[str]:
    """The codebooks that come with Sleuth."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def load_codebook(name: str | Path) -> Codebook:
    """A codebook by its name, or a TOML file of your own. Raises BadCodebook."""
    return parse_codebook(codebook_text(name), str(name))


def codebook_text(name: str | Path) -> str:
    """The TOML of a codebook, by its name or path. Raises BadCodebook."""
    path = Path(name)
    if str(name) in codebook_names():
        path = _FOLDER / f"{name}.toml"
    elif path.suffix != ".toml" and not path.exists():
        raise BadCodebook(f"there is no codebook {str(name)!r}; there are {', '.join(codebook_names())}")
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadCodebook(f"cannot read the codebook {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BadCodebook(f"cannot read the codebook {path}: it is not UTF-8") from None


def parse_codebook(text: str, where: str = "codebook") -> Codebook:
    """The codebook that this TOML says, checked. Raises BadCodebook."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadCodebook(f"{where} is not valid TOML: {error}") from None
    _only(data, _FIELDS, where)
    choose = data.get("choose", "one")
    if choose not in ("one", "many"):
        raise BadCodebook(f'{where}: choose must be "one" or "many", not {choose!r}')
    rows = data.get("label")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise BadCodebook(f"{where} has no [[label]]")
    labels = tuple(_choice(row, f"{where}, label {number}") for number, row in enumerate(rows, 1))
    _check_names(labels, where)
    _check_parents(labels, where)
    _check_keys(labels, where)
    return Codebook(
        name=_text(data, "name", where),
        title=_text(data, "title", where),
        question=_text(data, "question", where),
        source=_text(data, "source", where, ""),
        choose=choose,
        rules=_texts(data, "rules", where),
        labels=labels,
    )


def _choice(row: dict[str, Any], where: str) -> Choice:
    _only(row, _LABEL_FIELDS, where)
    name = _text(row, "name", where)
    where = f"{where} ({name})"
    within = _text(row, "within", where, "")
    return Choice(
        name=name,
        title=_text(row, "title", where, name),
        key=_text(row, "key", where),
        definition=_text(row, "definition", where),
        examples=_texts(row, "examples", where),
        within=within or None,
        fixes=_texts(row, "fixes", where),
    )


def _check_names(labels: tuple[Choice, ...], where: str) -> None:
    seen: set[str] = set()
    for label in labels:
        if label.name in seen:
            raise BadCodebook(f"{where}: two labels are called {label.name!r}")
        seen.add(label.name)


def _check_parents(labels: tuple[Choice, ...], where: str) -> None:
    parents = {label.name: label.within for label in labels}
    for label in labels:
        if label.within is not None and label.within not in parents:
            raise BadCodebook(f"{where}: {label.name!r} is within {label.within!r}, which is no label")
        seen = {label.name}
        above = label.within
        while above is not None:
            if above in seen:
                raise BadCodebook(f"{where}: {label.name!r} is within itself")
            seen.add(above)
            above = parents[above]


def _check_keys(labels: tuple[Choice, ...], where: str) -> None:
    """One character each, and never two labels that are shown side by side on one key."""
    seen: dict[tuple[str | None, str], str] = {}
    for label in labels:
        if len(label.key) != 1 or label.key.isspace() or not label.key.isprintable():
            raise BadCodebook(f"{where}: the key of {label.name!r} must be one character, not {label.key!r}")
        other = seen.setdefault((label.within, label.key), label.name)
        if other != label.name:
            raise BadCodebook(f"{where}: {other!r} and {label.name!r} have the same key {label.key!r}")


def _only(data: dict[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(data) - known)
    if unknown:
        raise BadCodebook(f"{where}: there is no field {unknown[0]!r}; the fields are {', '.join(sorted(known))}")


def _text(data: dict[str, Any], field: str, where: str, otherwise: str | None = None) -> str:
    value = data.get(field, otherwise)
    if not isinstance(value, str) or (not value.strip() and otherwise is None):
        raise BadCodebook(f"{where}: {field} {'is missing' if field not in data else 'must be a text'}")
    return value.strip()


def _texts(data: dict[str, Any], field: str, where: str) -> tuple[str, ...]:
    value = data.get(field, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadCodebook(f"{where}: {field} must be a list of texts")
    return tuple(value)
