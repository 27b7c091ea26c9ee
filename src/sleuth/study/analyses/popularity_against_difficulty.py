"""Each label where its popularity and its difficulty put it."""

from __future__ import annotations

from sleuth.study.correlation import pearson, spearman
from sleuth.study.material import DAY_MS, Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import CannotAnswer, collect

TITLE = "Popularity against difficulty, label by label"
NEEDS = ("posts", "labels")
STUDIES = ("liu",)


def analyse(material: Material) -> Result:
    posts = material.labelled()
    posts = posts.filter(posts.views.notnull() & posts.wait_ms.notnull())
    measured = collect(
        posts.group_by("label").aggregate(posts=posts.count(), views=posts.views.median(), wait=posts.wait_ms.median())
    )
    if len(measured) < 2:
        raise CannotAnswer("fewer than two labels have posts with views and an accepted answer")
    rows = sorted((row["label"], float(row["views"]), row["wait"] / DAY_MS, row["posts"]) for row in measured)
    views, days = [row[1] for row in rows], [row[2] for row in rows]
    linear, ranked = pearson(views, days), spearman(views, days)
    return Result(
        name="popularity_against_difficulty",
        title=TITLE,
        columns=("label", "median views", "median days", "posts"),
        rows=tuple(rows),
        figure=Figure("scatter", x="median views", y="median days", value="label"),
        note=""
        if linear.value is None or ranked.value is None
        else f"Over the {len(rows)} labels: Pearson {linear.value:.2f} (p {linear.p:.2g}), Spearman {ranked.value:.2f}"
        f" (p {ranked.p:.2g}).",
    )
