"""Which labels wait long for an answer that helps, or never get one."""

from __future__ import annotations

from sleuth.study.material import DAY_MS, HOUR_MS, Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import CannotAnswer, collect, percent

TITLE = "Difficulty: time to the accepted answer, and whether there is one"
NEEDS = ("posts", "labels")
STUDIES = ("zhang", "liu")


def analyse(material: Material) -> Result:
    posts = material.labelled()
    measured = collect(
        posts.group_by("label").aggregate(
            posts=posts.count(),
            accepted=posts.accepted.cast("int64").sum(),
            timed=posts.wait_ms.count(),
            median_ms=posts.wait_ms.median(),
            mean_ms=posts.wait_ms.mean(),
        )
    )
    if not any(row["accepted"] for row in measured):
        raise CannotAnswer("no labelled post has an accepted answer")
    rows = [
        (
            row["label"],
            _in(row["median_ms"], DAY_MS),
            _in(row["mean_ms"], DAY_MS),
            _in(row["median_ms"], HOUR_MS),
            _in(row["mean_ms"], HOUR_MS),
            row["timed"],
            percent(row["accepted"], row["posts"]),
            row["posts"],
        )
        for row in measured
    ]
    hardest_first = sorted(rows, key=lambda row: (row[1] is None, -(row[1] or 0.0), row[0]))
    return Result(
        name="difficulty",
        title=TITLE,
        columns=(
            "label",
            "median days",
            "mean days",
            "median hours",
            "mean hours",
            "timed",
            "percent accepted",
            "posts",
        ),
        rows=tuple(hardest_first),
        figure=Figure("bars", x="label", y="median days"),
        note="`timed` counts the posts whose accepted answer has a known time. Means follow a few answers that came"
        " years later.",
    )


def _in(milliseconds: float | None, unit: int) -> float | None:
    return None if milliseconds is None else milliseconds / unit
