"""How the posts for `sleuth ask` were drawn: at random within each source, with a seed, for anyone to draw again.

`python benchmarks/triage/draw.py --labelled FOLDER` draws them and compares with `labels.csv`."""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
from collections import defaultdict
from pathlib import Path

SEED = 20261116
ROUNDS = ("pilot", "main", "extra")
# How many posts of a source each round has. A post of several sources belongs to the first of these.
SIZES = {
    "shah_emse24": (12, 220, 460),
    "humbatova_icse20": (10, 200, 380),
    "chen_fse20": (12, 160, 260),
    "liu_ist24": (8, 110, 120),
    "long_apsec22": (6, 70, 120),
    "dlbugcls": (8, 80, 120),
    "cao_fse22": (2, 30, 60),
    "jajal_issta24": (2, 30, 40),
}
_KNOWN_KEY = re.compile(r"(so|gh|ptf):")


def drawn(folder: Path) -> dict[str, set[str]]:
    """The keys of each round."""
    frame: dict[str, list[str]] = defaultdict(list)
    seen = set()
    with open(folder / "texts.jsonl", encoding="utf-8") as file:
        for row in map(json.loads, file):
            source = next((name for name in SIZES if name in row["sources"]), None)
            has_text = (row.get("title") or row.get("text") or "").strip()
            if has_text and source and row["key"] not in seen and _KNOWN_KEY.match(row["key"]):
                seen.add(row["key"])
                frame[source].append(row["key"])
    chance = random.Random(SEED)
    rounds: dict[str, set[str]] = {name: set() for name in ROUNDS}
    for source, sizes in SIZES.items():
        keys = sorted(frame[source])
        chance.shuffle(keys)
        for name, size in zip(ROUNDS, sizes, strict=True):
            rounds[name].update(keys[:size])
            del keys[:size]
    return rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labelled", type=Path, required=True, metavar="FOLDER", help="the folder of texts.jsonl")
    rounds = drawn(parser.parse_args().labelled)
    kept: dict[str, set[str]] = defaultdict(set)
    with open(Path(__file__).with_name("labels.csv"), encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            kept[row["round"]].add(row["key"])
    for name, keys in rounds.items():
        print(f"{name}: {len(keys)} drawn, {len(kept[name])} labelled, {len(keys ^ kept[name])} different")


if __name__ == "__main__":
    main()
