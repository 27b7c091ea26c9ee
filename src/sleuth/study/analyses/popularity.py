"""Which labels are looked at and voted for."""

from __future__ import annotations

from sleuth.study.material import Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import CannotAnswer, collect

TITLE = "Popularity: views and score"
NEEDS = ("posts", "labels")
STUDIES = ("zhang", "liu")


def analyse(material: Material) -> Result:
    posts = material.labelled()
    posts = posts.filter(posts.views.notnull() | posts.score.notnull())
    measured = collect(
        posts.group_by("label").aggregate(
            posts=posts.count(),
            median_views=posts.views.median(),
            mean_views=posts.views.mean(),
            median_score=posts.score.median(),
            mean_score=posts.score.mean(),
        )
    )
    if not measured:
        raise CannotAnswer("no labelled post has views or a score")
    measures = ("label", "median_views", "mean_views", "median_score", "mean_score", "posts")
    rows = [tuple(row[name] for name in measures) for row in measured]
    most_seen_first = sorted(rows, key=lambda row: (row[1] is None, -(row[1] or 0), row[0]))
    return Result(
        name="popularity",
        title=TITLE,
        columns=("label", "median views", "mean views", "median score", "mean score", "posts"),
        rows=tuple(most_seen_first),
        figure=Figure("bars", x="label", y="median views"),
        note="Views and scores grow with a post's age: compare labels of one corpus, not two corpora.",
    )
