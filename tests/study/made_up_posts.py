"""Posts of three classes made of a class's own words and everybody's, so that a classifier can learn them, not all."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sleuth.study.corpus import COLUMNS, write_manifest

OWN = {
    "crash": "ValueError shapes incompatible argument traceback dtype mismatch expected".split(),
    "install": "pip conda cudnn driver wheel version import environment".split(),
    "slow": "seconds utilisation slower memory bottleneck faster throughput loading".split(),
}
EVERYBODYS = "model tensor layer keras torch the batch loss train how with my data input network".split()


def text_of_class(label: str, chance: random.Random, own: int = 2, common: int = 10) -> str:
    found = chance.choices(OWN[label], k=own) + chance.choices(EVERYBODYS, k=common)
    chance.shuffle(found)
    return " ".join(found)


def made_up(labels: Sequence[str], seed: int = 0, own: int = 2, astray: float = 0.0) -> tuple[list[str], list[str]]:
    """Texts and labels; `astray` of the texts are written in another class's words."""
    chance = random.Random(seed)
    others = {label: [other for other in OWN if other != label] for label in OWN}
    as_if = [chance.choice(others[label]) if chance.random() < astray else label for label in labels]
    return [text_of_class(label, chance, own) for label in as_if], list(labels)


def dealt(seed: int = 0, **counts: int) -> list[str]:
    labels = [label for label, count in counts.items() for _ in range(count)]
    random.Random(seed).shuffle(labels)
    return labels


def write_corpus(folder: Path, texts: Sequence[str], prefix: str = "so") -> Path:
    (folder / "posts").mkdir(parents=True)
    rows = [
        {
            "key": f"{prefix}:{number}",
            "id": number,
            "kind_of_post": "question",
            "title": text.split()[0],
            "text": text.partition(" ")[2],
            "code": [],
            "tags": [],
        }
        for number, text in enumerate(texts)
    ]
    answer = {
        "key": f"{prefix}:answer",
        "id": 10**6,
        "kind_of_post": "answer",
        "text": "use pip",
        "code": [],
        "tags": [],
    }
    pq.write_table(pa.Table.from_pylist([*rows, answer], schema=COLUMNS), folder / "posts" / "part-0.parquet")
    write_manifest(folder, {"posts": len(rows) + 1, "made of": prefix})
    return folder


def write_labels(path: Path, labels: Sequence[str], rater: str = "ann", prefix: str = "so") -> Path:
    with open(path, "a", encoding="utf-8") as file:
        for number, label in enumerate(labels):
            line = {"key": f"{prefix}:{number}", "codebook": "kinds", "label": label, "rater": rater, "round": 1}
            file.write(json.dumps(line) + "\n")
    return path
