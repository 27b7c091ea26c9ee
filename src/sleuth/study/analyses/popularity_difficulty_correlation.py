"""Do posts that many people look at wait longer for their answer?"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import ibis

from sleuth.study.correlation import of_coefficient
from sleuth.study.material import DAY_MS, Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import CannotAnswer, collect

TITLE = "Views, score and time to the accepted answer: correlation over posts"
NEEDS = ("posts",)
STUDIES = ("liu",)

_MEASURES = ("views", "score", "days")


def analyse(material: Material) -> Result:
    posts = material.subjects
    posts = posts.select(
        views=posts.views.cast("float64"), score=posts.score.cast("float64"), days=posts.wait_ms / float(DAY_MS)
    )
    rows = []
    for first, second in combinations(_MEASURES, 2):
        pairs = posts.filter(posts[first].notnull() & posts[second].notnull()).select(x=posts[first], y=posts[second])
        n, r = _correlation(pairs)
        _, rho = _correlation(_ranked(pairs))
        linear, by_rank = of_coefficient(r, n), of_coefficient(rho, n)
        rows.append((f"{first} ~ {second}", n, linear.value, linear.p, by_rank.value, by_rank.p))
    if not any(row[2] is not None for row in rows):
        raise CannotAnswer("fewer than three posts have two of views, score and an accepted answer's time")
    return Result(
        name="popularity_difficulty_correlation",
        title=TITLE,
        columns=("pair", "posts", "Pearson", "Pearson p", "Spearman", "Spearman p"),
        rows=tuple(rows),
        figure=Figure("bars", x="pair", y="Pearson"),
        note="Pearson's follows the few posts with very many views; Spearman's, by ranks, does not.",
    )


def _correlation(pairs: Any) -> tuple[int, float | None]:
    (row,) = collect(pairs.aggregate(n=pairs.count(), r=pairs.x.corr(pairs.y, how="pop")))
    return row["n"], row["r"]


def _ranked(pairs: Any) -> Any:
    """Every value replaced by its rank, equal values sharing the mean of theirs."""
    x, y = _ranks(pairs, "x"), _ranks(pairs, "y")
    ranked = pairs.inner_join(x, "x").inner_join(y, "y")
    return ranked.select(x=ranked.x_rank, y=ranked.y_rank)


def _ranks(pairs: Any, name: str) -> Any:
    # Over the distinct values, of which there are few: a window over all posts would pass through one machine.
    values = pairs.group_by(name).aggregate(times=pairs.count())
    so_far = values.times.sum().over(ibis.cumulative_window(order_by=values[name]))
    return values.select(values[name], **{f"{name}_rank": (so_far - (values.times - 1) / 2.0).cast("float64")})
