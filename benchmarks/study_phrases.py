"""How well titles give up their verb and object: the extraction beside what the authors of study L labelled by hand.

The 2,401 labelled questions are cut in two by a digest of their key. The words and rules of `sleuth.study.phrases` were
written looking at the one half only; the figures that count are those of the other. Beside them stand a guess of the
most usual answer, and the plainest reading: the word after `how to`, and the first word that names an object.

A verb is right if it means the same in our lexicon, where `obtain` and `count` are `get`, and `print` and `plot` are
`display`; that is coarser than the authors' own wording. Objects, phases and groups of verbs are the study's own.

    python benchmarks/study_phrases.py --labelled FOLDER
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sleuth.study.label.codebook import load_codebook
from sleuth.study.phrases import extract
from sleuth.study.phrases.inflection import plain
from sleuth.study.phrases.lexicon import lexicon
from sleuth.study.schemes import translated

RESULT = Path(__file__).parent / "results" / "study_phrases.json"
SCHEME = "liu.verb_object_phase"
HALVES = ("development", "untouched")


@dataclass(frozen=True)
class Reading:
    """What a title asks for, by a person or by a program. `group` is only defined for data processing."""

    verb: str | None
    object: str | None
    phase: str | None
    group: str | None


@dataclass(frozen=True)
class Question:
    key: str
    title: str
    truth: Reading

    @property
    def half(self) -> str:
        return HALVES[int(hashlib.sha256(f"phrases:{self.key}".encode()).hexdigest(), 16) % 2]


def questions(folder: Path) -> Iterator[Question]:
    titles = {}
    with open(folder / "texts.jsonl", encoding="utf-8") as texts:
        for line in texts:
            row = json.loads(line)
            titles[row["key"]] = row.get("title") or ""
    with open(folder / "labels.csv", encoding="utf-8", newline="") as labels:
        for row in csv.DictReader(labels):
            if row["scheme"] == SCHEME:
                yield Question(row["key"], titles[row["key"]], labelled(row["label"]))


def labelled(triple: str) -> Reading:
    """`get shape,dt,d` in the words of our codebooks: the first word of the verb by its meaning in the lexicon."""
    said = {scheme: label for _, scheme, _, label in translated([("", SCHEME, 0, triple)])}
    phase, _, thing = said["liu.object"].partition("/")
    return Reading(meaning(triple.split(",")[0].split()[0]), thing, phase, said.get("liu.verb"))


def meaning(word: str) -> str:
    words = lexicon()
    return words.verbs.get(plain(word, words.verbs)) or words.actions.get(word, word)


def extracted(title: str) -> Reading:
    phrase = extract(title)
    return (
        Reading(phrase.verb, phrase.object, phrase.phase, phrase.group) if phrase else Reading(None, None, None, None)
    )


def plainest(title: str) -> Reading:
    words = lexicon()
    tokens = title.lower().replace("?", "").replace(":", "").split()
    after = tokens[tokens.index("to") + 1 :] if "to" in tokens else tokens
    verb = meaning(after[0]) if after else None
    known = (words.objects.get(plain(token, words.objects)) for token in after[1:])
    thing = next((name for name in known if name), "data")
    phases = {name.partition("/")[2]: label.within for label in reversed(_taxonomy()) for name in [label.name]}
    return Reading(verb, thing, phases.get(thing), words.groups.get(verb or ""))


def _taxonomy() -> tuple[Any, ...]:
    return load_codebook("taxonomy").choosable


def most_usual(asked: Iterable[Question]) -> Callable[[str], Reading]:
    """Always the answer that is right most often."""
    truths = [question.truth for question in asked]

    def mode(values: Iterable[str | None]) -> str | None:
        return Counter(value for value in values if value is not None).most_common(1)[0][0]

    answer = Reading(
        mode(truth.verb for truth in truths),
        mode(truth.object for truth in truths),
        mode(truth.phase for truth in truths),
        mode(truth.group for truth in truths),
    )
    return lambda title: answer


def measured(asked: list[Question], read: Callable[[str], Reading]) -> dict[str, dict[str, float]]:
    pairs = [(question.truth, read(question.title)) for question in asked]
    tests: dict[str, list[bool]] = {
        "verb": [truth.verb == found.verb for truth, found in pairs],
        "object": [truth.object == found.object for truth, found in pairs],
        "verb and object": [(truth.verb, truth.object) == (found.verb, found.object) for truth, found in pairs],
        "phase": [truth.phase == found.phase for truth, found in pairs],
        "phase and object": [(truth.phase, truth.object) == (found.phase, found.object) for truth, found in pairs],
        "verb group (data processing)": [truth.group == found.group for truth, found in pairs if truth.group],
    }
    return {name: share(right) for name, right in tests.items()}


def share(right: list[bool]) -> dict[str, float]:
    """With Wilson's interval."""
    n, p, z = len(right), sum(right) / len(right), 1.959964
    middle, spread = (p + z * z / (2 * n)), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = ((middle + sign * spread) / (1 + z * z / n) for sign in (-1, 1))
    return {"questions": n, "accuracy": round(p, 4), "low": round(low, 4), "high": round(high, 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labelled", type=Path, required=True, help="a folder with texts.jsonl and labels.csv")
    parser.add_argument("--half", choices=HALVES, help="only this half, and write nothing")
    args = parser.parse_args()
    asked = list(questions(args.labelled))
    result: dict[str, Any] = {"questions": len(asked), "halves": {}}
    for half in [args.half] if args.half else HALVES:
        mine = [question for question in asked if question.half == half]
        readers = {"most usual": most_usual(mine), "plainest reading": plainest, "sleuth": extracted}
        result["halves"][half] = {name: measured(mine, read) for name, read in readers.items()}
    print(json.dumps(result, indent=1))
    if args.half is None:
        RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
