"""The posts that were labelled for `sleuth ask`: their texts, what the raters said, and which third is for the test."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

LABELS = Path(__file__).resolve().parent / "labels.csv"
# Only posts of this round were read twice and drawn at random: the test is a third of them.
TESTED_ROUND = "main"


@dataclass(frozen=True)
class Post:
    """One labelled post. `kinds` has what each rater said."""

    key: str
    title: str
    body: str
    stratum: str
    weight: float
    round: str
    kinds: dict[str, str]

    @property
    def text(self) -> str:
        return f"{self.title}\n\n{self.body}".strip()

    @property
    def short(self) -> str:
        """What a hurried person would ask: the title, or the first sentence."""
        return self.title or self.body.partition(". ")[0][:150]

    @property
    def kind(self) -> str | None:
        """What all raters of the post said, or None where they differ."""
        said = set(self.kinds.values())
        return said.pop() if len(said) == 1 else None

    @property
    def for_test(self) -> bool:
        return self.round == TESTED_ROUND and int(hashlib.sha256(f"test:{self.key}".encode()).hexdigest(), 16) % 3 == 0


def labelled(folder: Path) -> list[Post]:
    """Every post of `labels.csv` with its text from `texts.jsonl` of that folder."""
    said: dict[str, dict[str, str]] = defaultdict(dict)
    about: dict[str, dict[str, str]] = {}
    with open(LABELS, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            said[row["key"]][row["rater"]] = row["kind"]
            about[row["key"]] = row
    return [
        Post(key, title, body, about[key]["stratum"], float(about[key]["weight"]), about[key]["round"], said[key])
        for key, title, body in texts(folder)
        if key in about
    ]


def texts(folder: Path) -> list[tuple[str, str, str]]:
    """Key, title and body of every text there, each key once."""
    found: dict[str, tuple[str, str, str]] = {}
    with open(folder / "texts.jsonl", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            title, body = row.get("title") or "", row.get("body") or row.get("text") or ""
            if title or body:
                found.setdefault(row["key"], (row["key"], title, body))
    return list(found.values())
