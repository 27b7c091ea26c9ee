"""How the labels' shares changed from year to year."""

from __future__ import annotations

from sleuth.study.material import Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import CannotAnswer, shares_within

TITLE = "Labels by year"
NEEDS = ("posts", "labels")
STUDIES = ("zhang", "islam", "liu")
KEYS = 2


def analyse(material: Material) -> Result:
    posts = material.labelled()
    rows = shares_within(posts.filter(posts.year.notnull()), "year", "label", by_year=True)
    if not rows:
        raise CannotAnswer("no labelled post says when it was written")
    return Result(
        name="evolution",
        title=TITLE,
        columns=("year", "label", "posts", "percent"),
        rows=rows,
        figure=Figure("lines", x="year", y="percent", series="label"),
        note="Percent of the year's labels. The first and the last year may be incomplete.",
    )
