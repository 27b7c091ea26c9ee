"""The objects within each phase."""

from __future__ import annotations

from collections import Counter

from sleuth.study.material import Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import collect, percent

TITLE = "The taxonomy: objects within phases"
NEEDS = ("object",)
STUDIES = ("liu",)
KEYS = 2


def analyse(material: Material) -> Result:
    labels = material.labels_of("object")
    counts = {row["label"]: row["n"] for row in collect(labels.group_by("label").aggregate(n=labels.count()))}
    phases: Counter[str] = Counter()
    for label, n in sorted(counts.items()):
        phases[label.partition("/")[0]] += n
    rows = [
        (phase, thing or phase, n, percent(n, phases[phase]))
        for label, n in counts.items()
        for phase, _, thing in (label.partition("/"),)
    ]
    return Result(
        name="taxonomy",
        title=TITLE,
        columns=("phase", "object", "posts", "percent of the phase"),
        rows=tuple(sorted(rows, key=lambda row: (-phases[row[0]], row[0], -row[2], row[1]))),
        figure=Figure("stacked-bars", x="phase", y="posts", series="object"),
        note=f"{len(phases)} phases, {len(counts)} objects.",
    )
