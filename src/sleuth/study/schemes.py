"""Which question a set of labels answers, and other people's labels brought into the words of our codebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa

from sleuth.study.label.store import Label
from sleuth.study.published import all_studies, load_study

# What labels are about, and the schemes that say it: our codebooks first, then public data sets' own names.
ROLES: Mapping[str, tuple[str, ...]] = {
    "kind": ("kinds", "zhang.kind", "kind7"),
    "bug-type": ("bug-types", "islam.bug_type", "humbatova.top5"),
    "root-cause": ("root-causes", "zhang18.cause", "cao.root_cause", "jajal.cause"),
    "effect": ("effects", "zhang18.symptom", "cao.symptom1", "jajal.symptom", "chen21.symptom"),
    "stage": ("stages", "cao.introducing_stage", "cao.exposing_stage", "chen21.stage"),
    "fix": ("islam.fix_pattern", "chen21.fix"),
    "phase": ("phases", "liu.phase"),
    # As the public data of Liu et al. has it, before the printed taxonomy moved some posts.
    "phase-letter": ("liu.phase_letter",),
    "object": ("taxonomy", "liu.object"),
    "verb": ("verbs", "liu.verb"),
    "numerical-cause": ("numerical-causes",),
    "numerical-fix": ("numerical-fixes",),
    "library": ("libraries", "islam.library"),
}
# The part of a label before its slash answers a question of its own.
_OUTER = {"taxonomy": "phases", "numerical-fixes": "numerical-causes"}
# Whose word counts where raters differ.
_FINAL = "final"


# Of a post, by a scheme, the first or a further label.
_Row = tuple[str, str, int, str]
_COLUMNS = pa.schema([("key", pa.string()), ("scheme", pa.string()), ("item", pa.int64()), ("label", pa.string())])


@dataclass(frozen=True)
class Settled:
    """What stands of each post in each scheme. A post may have several labels, even one twice: two bugs of a type."""

    rows: tuple[_Row, ...]
    # Posts whose raters differ, by scheme: they are left out.
    disputed: Mapping[str, int]

    @property
    def schemes(self) -> tuple[str, ...]:
        return tuple(sorted({scheme for _, scheme, _, _ in self.rows}))

    def table(self) -> pa.Table:
        return pa.Table.from_pydict(
            dict(zip(_COLUMNS.names, zip(*self.rows, strict=True), strict=True)) if self.rows else {}, schema=_COLUMNS
        )


@cache
def role_of(scheme: str) -> str | None:
    """What the labels of that scheme are about, where it is known."""
    return next((role for role, schemes in ROLES.items() if scheme in schemes), None)


def of_one_source(schemes: Iterable[str]) -> bool:
    """`cao.root_cause` goes with `cao.symptom1`; codebooks, which have no dot, with each other."""
    return len({scheme.partition(".")[0] if "." in scheme else "" for scheme in schemes}) <= 1


def settle(labels: Iterable[Label]) -> Settled:
    """What the raters agree on: each one's last round, and "final" over everybody's."""
    said: dict[tuple[str, str], dict[str, dict[int, list[str]]]] = {}
    for label in labels:
        if label.label is not None:
            rounds = said.setdefault((label.key, label.codebook), {}).setdefault(label.rater, {})
            rounds.setdefault(label.round, []).append(label.label)
    rows: list[_Row] = []
    disputed: Counter[str] = Counter()
    for (key, scheme), raters in said.items():
        words = [rounds[max(rounds)] for rater, rounds in raters.items() if rater == _FINAL or _FINAL not in raters]
        if any(sorted(word) != sorted(words[0]) for word in words):
            disputed[scheme] += 1
        else:
            rows.extend((key, scheme, item, label) for item, label in enumerate(words[0]))
    return Settled(tuple(sorted(translated(rows))), dict(disputed))


def translated(rows: Iterable[_Row]) -> list[_Row]:
    """The same labels in our codebooks' words, and those that follow from them."""
    shorthand: Mapping[str, Any] = load_study("liu").extra["shorthand"]
    spellings: dict[str, Mapping[str, str]] = {}
    for study in all_studies():
        spellings.update(study.extra.get("spelling", {}))
    found: list[_Row] = []
    for key, scheme, item, label in rows:
        if scheme == shorthand["scheme"]:
            found.extend((key, part, item, word) for part, word in _spelt_out(label, shorthand))
        elif scheme == "liu.phase_letter":
            found.append((key, scheme, item, shorthand["phases"].get(label, label)))
        elif role_of(scheme) == "library":
            found.append((key, scheme, item, label.lower()))
        else:
            found.append((key, scheme, item, spellings.get(scheme, {}).get(label.lower(), label)))
    return found + _outer_labels(found)


def _outer_labels(rows: list[_Row]) -> list[_Row]:
    """A post labelled by the whole taxonomy has its phase too, unless somebody labelled the phases themselves."""
    schemes = {scheme for _, scheme, _, _ in rows}
    return [
        (key, _OUTER[scheme], item, label.split("/")[0])
        for key, scheme, item, label in rows
        if scheme in _OUTER and _OUTER[scheme] not in schemes
    ]


def _spelt_out(triple: str, shorthand: Mapping[str, Any]) -> list[tuple[str, str]]:
    """`save,d,d`, a verb, an object and a phase's letter, as the paper's taxonomy has it."""
    parts = triple.split(",")
    if len(parts) != 3 or parts[2] not in shorthand["phases"]:
        return [(shorthand["scheme"], triple)]
    verb, named, letter = parts
    phase = shorthand["phases"][letter]
    if letter == "m":
        phase = shorthand["moved"].get(named, phase)
    pairs = [("liu.phase", phase), ("liu.object", _printed_object(phase, shorthand["objects"].get(named, named)))]
    if phase == "data-processing":
        group = next((group for group, verbs in shorthand["verbs"].items() if verb in verbs), "other")
        pairs.append(("liu.verb", group))
    return pairs


def _printed_object(phase: str, named: str) -> str:
    """A `convolution layer` is printed under `layer`: the longest printed object that the name ends in."""
    words = named.replace("/", " ").split()
    tails = (f"{phase}/{'-'.join(words[start:])}" for start in range(len(words)))
    return next((tail for tail in tails if tail in _printed_objects()), f"{phase}/{'-'.join(words)}")


def _printed_objects() -> Mapping[str, float]:
    return next(table.values for table in load_study("liu").printed if table.role == "object")
