"""Which framework the posts are about."""

from __future__ import annotations

from sleuth.study.material import Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import by_size, collect, percent

TITLE = "Which framework the posts are about"
NEEDS = ("posts",)
STUDIES = ("zhang", "islam", "liu", "wang")


def analyse(material: Material) -> Result:
    posts = material.subjects
    counts = {row["framework"]: row["n"] for row in collect(posts.group_by("framework").aggregate(n=posts.count()))}
    total = sum(counts.values())
    rows = by_size((framework, n, percent(n, total)) for framework, n in counts.items())
    order = ", ".join(material.frameworks())
    return Result(
        name="frameworks",
        title=TITLE,
        columns=("framework", "posts", "percent"),
        rows=(*rows, ("all", total, 100.0)),
        figure=Figure("bars", x="framework", y="posts"),
        note=f"By the tags, or the repository; a post with tags of several counts once, for the first of {order}.",
    )
