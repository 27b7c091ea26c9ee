"""Where the posts come from."""

from __future__ import annotations

from sleuth.study.material import Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import by_size, collect, percent

TITLE = "Where the posts come from"
NEEDS = ("posts",)
STUDIES = ("islam", "wang")


def analyse(material: Material) -> Result:
    posts = material.subjects
    counts = {row["platform"]: row["n"] for row in collect(posts.group_by("platform").aggregate(n=posts.count()))}
    total = sum(counts.values())
    rows = by_size((platform, n, percent(n, total)) for platform, n in counts.items())
    return Result(
        name="sources",
        title=TITLE,
        columns=("source", "posts", "percent"),
        rows=(*rows, ("all", total, 100.0)),
        figure=Figure("bars", x="source", y="posts"),
    )
