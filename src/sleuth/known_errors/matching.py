"""Which known messages stand in a text, and how much weight the place has where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from sleuth.known_errors.reading import Reading
from sleuth.known_errors.signatures import Signature, saying

# So much of a text is the message itself: whoever pastes nothing but an error means the error.
_MOST_OF_IT = 0.4
_LONGEST_SHOWN = 200


class Strength(IntEnum):
    """Where the words stand: in the midst of a sentence, right behind the name of an error, or as the error itself."""

    MENTIONED = 0
    NAMED = 1
    STATED = 2


@dataclass(frozen=True, slots=True)
class Recognised:
    """An error message that is known, in the very words that stand in the text."""

    name: str
    framework: str
    matched: str
    why: str
    certainty: str


@dataclass(frozen=True, slots=True)
class Match:
    signature: Signature
    found: re.Match[str]
    strength: Strength
    statement: int

    @property
    def recognised(self) -> Recognised:
        words = " ".join(self.found[0].split())
        if len(words) > _LONGEST_SHOWN:
            words = words[:_LONGEST_SHOWN] + " …"
        signature = self.signature
        return Recognised(
            signature.name, signature.framework, words, signature.explained(self.found), signature.certainty
        )

    @property
    def rank(self) -> tuple[bool, int, int, int]:
        """The highest is the message to believe: an error itself before its mention, the last before the first, and
        of two that fit the same words the one that fits more of them."""
        return (
            not (self.signature.wraps or self.signature.symptom),
            self.strength,
            self.statement,
            len(self.found[0]),
        )


def matches(reading: Reading) -> list[Match]:
    """Every signature that stands in the text, the one to believe first."""
    squeezed = " ".join(reading.text.split()).lower()
    found = [match for signature in saying(squeezed) for match in [_match(signature, reading)] if match is not None]
    return sorted(found, key=lambda match: match.rank, reverse=True)


def _match(signature: Signature, reading: Reading) -> Match | None:
    best: Match | None = None
    for found in signature.compiled.finditer(reading.text):
        statement = reading.statement_at(found.start())
        match = Match(signature, found, _strength(found, statement, reading), -1 if statement is None else statement)
        if best is None or match.rank >= best.rank:
            best = match
    return best


def _strength(found: re.Match[str], statement: int | None, reading: Reading) -> Strength:
    if statement is not None:
        return Strength.STATED
    words = len("".join(reading.text.split()))
    if reading.is_named(found.start()) or len("".join(found[0].split())) >= _MOST_OF_IT * words:
        return Strength.NAMED
    return Strength.MENTIONED
