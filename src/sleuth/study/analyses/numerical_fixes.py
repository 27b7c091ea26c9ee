"""Which fix goes with which root cause of a NaN or an infinity."""

from __future__ import annotations

from collections import Counter

from sleuth.study.material import Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import collect, percent

TITLE = "Numerical bugs: fix patterns"
NEEDS = ("numerical-fix",)
STUDIES = ("wang",)


def analyse(material: Material) -> Result:
    labels = material.labels_of("numerical-fix")
    counts = {row["label"]: row["n"] for row in collect(labels.group_by("label").aggregate(n=labels.count()))}
    causes: Counter[str] = Counter()
    for label, n in sorted(counts.items()):
        causes[label.partition("/")[0]] += n
    rows = [
        (
            label,
            label.partition("/")[0],
            label.partition("/")[2] or label,
            n,
            percent(n, causes[label.partition("/")[0]]),
        )
        for label, n in counts.items()
    ]
    return Result(
        name="numerical_fixes",
        title=TITLE,
        columns=("label", "root cause", "fix", "posts", "percent of the cause"),
        rows=tuple(sorted(rows, key=lambda row: (-causes[row[1]], row[1], -row[3], row[2]))),
        figure=Figure("stacked-bars", x="root cause", y="posts", series="fix"),
    )
