"""Why numbers become NaN or infinite, and what puts that right."""

from __future__ import annotations

from sleuth.study.material import Material
from sleuth.study.published import load_study
from sleuth.study.result import Figure, Result
from sleuth.study.tables import by_size, collect, percent

TITLE = "Numerical bugs: root causes with their fixes"
NEEDS = ("numerical-cause",)
STUDIES = ("wang",)


def analyse(material: Material) -> Result:
    labels = material.labels_of("numerical-cause")
    counts = {row["label"]: row["n"] for row in collect(labels.group_by("label").aggregate(n=labels.count()))}
    fixes = load_study("wang").extra["fixes"]
    total = sum(counts.values())
    return Result(
        name="numerical_causes",
        title=TITLE,
        columns=("root cause", "fix pattern", "posts", "percent"),
        rows=by_size(((cause, fixes.get(cause, ""), n, percent(n, total)) for cause, n in counts.items()), size=2),
        figure=Figure("bars", x="root cause", y="posts"),
        note=f"Fix patterns as {load_study('wang').source} found them.",
    )
