"""The lexicon: which words mean which verb or object."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Lexicon:
    """Words to what they mean. A hyphen in a word joins what may be written apart: `learning-rate`."""

    verbs: dict[str, str]
    groups: dict[str, str]
    # Nouns that name an action.
    actions: dict[str, str]
    objects: dict[str, str]
    sides: frozenset[str]
    # Said of models and weights.
    trained: frozenset[str]
    # Said of networks that are named after their layers.
    layered: frozenset[str]
    frameworks: frozenset[str]
    adverbs: frozenset[str]


@cache
def lexicon() -> Lexicon:
    data = tomllib.loads((Path(__file__).parent / "lexicon.toml").read_text(encoding="utf-8"))
    return Lexicon(
        verbs={word: verb for verb, entry in data["verbs"].items() for word in entry["words"].split()},
        groups={verb: entry["group"] for verb, entry in data["verbs"].items() if "group" in entry},
        actions={word: verb for verb, words in data["nouns"].items() for word in words.split()},
        objects={word: name for name, words in data["objects"].items() for word in words.split()},
        sides=frozenset(data["sides"]["words"].split()),
        trained=frozenset(data["adjectives"]["trained"].split()),
        layered=frozenset(data["adjectives"]["layered"].split()),
        frameworks=frozenset(data["ignored"]["frameworks"].split()),
        adverbs=frozenset(data["ignored"]["adverbs"].split()),
    )
