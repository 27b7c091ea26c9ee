"""Error messages that are known word by word: data in the TOML files beside this, one a framework."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FOLDER = os.path.dirname(__file__)
_BRACES = re.compile(r"\{(\w+)\}")
_HEAD = "[[signature]]\n"
_SAYS = re.compile(r"^says = (\[.*\])$", re.MULTILINE)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Signature:
    """One message. A space in its pattern stands for any white space, since terminals wrap lines.

    `says` are words of it in lower case, one of which every match contains: looking for them first is what makes some
    two hundred patterns quick. `wraps` marks an error that only reports another one. `symptom` marks what people and
    logs say rather than what an error says.
    """

    name: str
    framework: str
    says: tuple[str, ...]
    pattern: str
    kind: str
    why: str
    certainty: str
    diagnosis: str | None
    also: tuple[str, ...]
    next: tuple[str | dict[str, str], ...]
    wraps: bool
    symptom: bool

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        # ASCII, for Chinese writes no space between its words and `loss` or `nan`.
        flags = re.MULTILINE | re.IGNORECASE | re.ASCII if self.symptom else re.MULTILINE
        return re.compile(self.pattern.replace(" ", r"\s+"), flags)

    def explained(self, match: re.Match[str]) -> str:
        """Why it happened, with the numbers and names of this very message."""
        found = {name: " ".join((value or "").split()) for name, value in match.groupdict().items()}
        return _BRACES.sub(lambda brace: found.get(brace[1]) or "…", self.why)


@dataclass(frozen=True, slots=True)
class _Block:
    """One signature as its file has it, of which nothing but the words it says are read yet."""

    framework: str
    says: tuple[str, ...]
    source: str


def saying(text: str) -> Iterator[Signature]:
    """The signatures one of whose words stand in this text (in lower case, with single spaces).

    Parsing all of them takes longer than everything else `sleuth ask` does, so only these are."""
    for block in _blocks():
        if any(words in text for words in block.says):
            yield _parsed(block)


def all_signatures() -> tuple[Signature, ...]:
    return tuple(_parsed(block) for block in _blocks())


@cache
def _blocks() -> tuple[_Block, ...]:
    files = sorted(file for file in os.listdir(_FOLDER) if file.endswith(".toml"))
    return tuple(block for file in files for block in _cut(file))


def _cut(file: str) -> Iterator[_Block]:
    with open(os.path.join(_FOLDER, file), encoding="utf-8") as opened:
        _, *sources = opened.read().split(_HEAD)
    for source in sources:
        line = _SAYS.search(source)
        assert line is not None, f"{file}: a signature without words:\n{source}"
        says = tuple(words.replace('\\"', '"') for words in _QUOTED.findall(line[1]))
        yield _Block(file.removesuffix(".toml"), says, source)


@cache
def _parsed(block: _Block) -> Signature:
    row: dict[str, Any] = tomllib.loads(block.source)
    return Signature(
        name=row["name"],
        framework=block.framework,
        says=tuple(row["says"]),
        pattern=row["pattern"],
        kind=row["kind"],
        why=row["why"],
        certainty=row["certainty"],
        diagnosis=row.get("diagnosis"),
        also=tuple(row.get("also", ())),
        next=tuple(row.get("next", ())),
        wraps=row.get("wraps", False),
        symptom=row.get("symptom", False),
    )
