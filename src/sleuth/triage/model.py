"""Which kind of problem a text is likely to be, by its words: a linear model, whose numbers `model.json` holds.

`benchmarks/triage` trains it; `data-card.md` beside this file says on what, and how well it does."""

from __future__ import annotations

import base64
import json
import math
import os
from array import array
from collections import Counter
from functools import cache

from sleuth.words import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FILE = os.path.join(os.path.dirname(__file__), "model.json")


class Model:
    """Weights of terms for each kind. A term's weight in a text grows with the log of its count and with its rarity."""

    def __init__(self, numbers: dict[str, Any]) -> None:
        self.kinds: list[str] = numbers["kinds"]
        self._index = {term: place for place, term in enumerate(numbers["terms"].split("\n"))}
        # One byte a weight; how much one step of it is worth differs from kind to kind.
        self._weights = array("b", base64.b64decode(numbers["weights"]))
        self._steps: list[float] = numbers["steps"]
        self._bias: list[float] = numbers["bias"]
        rarity_step = numbers["rarity_step"]
        self._rarity = [step * rarity_step for step in base64.b64decode(numbers["rarity"])]

    def probabilities(self, text: str) -> dict[str, float]:
        present = [(place, self._rarity[place] * (1 + math.log(n))) for place, n in self._counts(text).items()]
        length = math.sqrt(sum(value * value for _, value in present)) or 1.0
        width = len(self.kinds)
        scores = [0.0] * width
        for place, value in present:
            for kind in range(width):
                scores[kind] += value * self._weights[place * width + kind]
        scores = [s * step / length + bias for s, step, bias in zip(scores, self._steps, self._bias, strict=True)]
        highest = max(scores)
        shares = [math.exp(score - highest) for score in scores]
        return {kind: share / sum(shares) for kind, share in zip(self.kinds, shares, strict=True)}

    def knows(self, term: str) -> bool:
        return term in self._index

    def _counts(self, text: str) -> Counter[int]:
        index = self._index
        return Counter(index[term] for term in terms(text) if term in index)


def kinds(text: str) -> dict[str, float]:
    """The probability of each of the seven kinds; they add up to 1."""
    return _shipped().probabilities(text)


def knows(word: str) -> bool:
    """Is it a word (in lower case) of the posts that the model has learnt from?"""
    return _shipped().knows(word)


@cache
def _shipped() -> Model:
    with open(_FILE, encoding="utf-8") as file:
        return Model(json.load(file))
