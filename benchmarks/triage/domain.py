"""Trains what tells a text about deep learning from any other in `sleuth ask`: `src/sleuth/triage/domain.json`.

    python benchmarks/triage/domain.py --labelled FOLDER --elsewhere FILE

`--elsewhere` is a JSON object of texts by their source: questions about other software and about everyday life, short
descriptions of things and of programs. The sources in `HELD_OUT` are never learnt from: they say how it does on a topic
that it has not seen. What it is worth goes to `benchmarks/results/ask_domain.json`."""

from __future__ import annotations

import argparse
import base64
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from sleuth.triage import domain
from triage.posts import Post, labelled

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "src" / "sleuth" / "triage" / "domain.json"
RESULT = ROOT / "benchmarks" / "results" / "ask_domain.json"
HELD_OUT = ("so-excel", "so-matlab", "so-bash", "everyday-other")
# Lists of short texts are long: so many of each are enough, beside those that use our words in another sense.
MOST = 10_000
OUR_WORDS = 150
THEIR_WEIGHT = 3.0
FEWEST_TEXTS = 8
FREEDOM = 2.0
# A word that moves nothing need not ship.
LEAST_WEIGHT = 0.15
# No word alone decides: "model" and "train" have other lives, and what has none is known by its name.
MOST_WEIGHT = 8.0


def paragraphs(lines: list[str], chance: random.Random) -> Iterator[str]:
    """One to three lines at a time: people ask in more than one sentence."""
    place = 0
    while place < len(lines):
        number = chance.choice((1, 1, 2, 3))
        yield ". ".join(lines[place : place + number])
        place += number


def weighed(texts: list[str], truth: Any, weights: Any) -> tuple[Any, Any]:
    counter = TfidfVectorizer(analyzer=domain.spoken, min_df=FEWEST_TEXTS, sublinear_tf=True, dtype=np.float32)
    student = LogisticRegression(C=FREEDOM, max_iter=300, tol=1e-3)
    student.fit(counter.fit_transform(texts), truth, sample_weight=weights)
    return counter, student


def trained(ours: list[str], theirs: dict[str, list[str]]) -> dict[str, Any]:
    chance = random.Random(0)
    drawn, left = [], []
    for lines in theirs.values():
        some = list(paragraphs(lines, chance))
        chance.shuffle(some)
        drawn += some[:MOST]
        left += some[MOST:]
    counter, student = weighed(*_balanced(ours, drawn, []))
    names = counter.get_feature_names_out()
    telling = {names[place] for place in np.argsort(student.coef_[0])[-OUR_WORDS:]}
    puns = [text for text in drawn + left if telling & set(domain.spoken(text))]
    return _numbers(*weighed(*_balanced(ours, drawn, puns)))


def _balanced(ours: list[str], theirs: list[str], puns: list[str]) -> tuple[list[str], Any, Any]:
    texts = ours + theirs + puns
    weights = np.concatenate([np.ones(len(ours) + len(theirs)), np.full(len(puns), THEIR_WEIGHT)])
    weights[: len(ours)] *= weights[len(ours) :].sum() / len(ours)
    return texts, np.arange(len(texts)) < len(ours), weights


def _numbers(counter: Any, student: Any) -> dict[str, Any]:
    names, rarity = counter.get_feature_names_out(), counter.idf_
    weights = np.clip(student.coef_[0], -MOST_WEIGHT, MOST_WEIGHT)
    kept = np.flatnonzero(np.abs(weights) >= LEAST_WEIGHT)
    step, rarity_step = float(np.abs(weights).max() / 127), float(rarity.max() / 255)
    return {
        "schema": 1,
        "bias": round(float(student.intercept_[0]), 6),
        "step": float(f"{step:.6g}"),
        "unknown": round(float(rarity.max() / rarity_step)),
        "words": "\n".join(names[kept]),
        "rarity": base64.b64encode(np.round(rarity[kept] / rarity_step).astype(np.uint8).tobytes()).decode(),
        "weights": base64.b64encode(np.round(weights[kept] / step).astype(np.int8).tobytes()).decode(),
    }


def measured(test: list[Post], theirs: dict[str, list[str]]) -> dict[str, Any]:
    """Which share is held for something else: few of ours, most of theirs."""

    def share(texts: list[str]) -> float:
        return round(sum(map(domain.is_foreign, texts)) / len(texts), 3)

    return {
        "ours, held for something else": {
            "posts": len(test),
            "whole": share([post.text for post in test]),
            "titles": share([post.short for post in test]),
        },
        "theirs, known as such": {name: [len(theirs[name]), share(theirs[name])] for name in HELD_OUT},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labelled", type=Path, required=True, help="the folder of texts.jsonl")
    parser.add_argument("--elsewhere", type=Path, required=True, help="a JSON object: texts by their source")
    args = parser.parse_args()
    posts = [post for post in labelled(args.labelled) if post.kind != "other"]
    theirs = json.loads(args.elsewhere.read_text(encoding="utf-8"))
    learnt = [post for post in posts if not post.for_test]
    numbers = trained(
        [post.text for post in learnt] + [post.short for post in learnt],
        {name: lines for name, lines in theirs.items() if name not in HELD_OUT},
    )
    MODEL.write_text(json.dumps(numbers) + "\n", encoding="utf-8")
    said = {
        "learnt from": {
            "ours": len(learnt),
            **{name: len(lines) for name, lines in theirs.items() if name not in HELD_OUT},
        },
        "words": numbers["words"].count("\n") + 1,
        **measured([post for post in posts if post.for_test], theirs),
    }
    RESULT.write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(said, indent=1))


if __name__ == "__main__":
    main()
