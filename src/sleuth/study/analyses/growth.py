"""How many posts each year brought, by framework."""

from __future__ import annotations

from sleuth.study.material import Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import CannotAnswer, shares_within

TITLE = "Posts by year and framework"
NEEDS = ("posts",)
STUDIES = ("zhang", "islam", "liu")
KEYS = 2


def analyse(material: Material) -> Result:
    posts = material.subjects.filter(material.subjects.year.notnull())
    rows = shares_within(posts, "year", "framework", by_year=True)
    if not rows:
        raise CannotAnswer("no post says when it was written")
    years: dict[int, int] = {}
    for year, _, n, _ in rows:
        years[year] = years.get(year, 0) + n
    return Result(
        name="growth",
        title=TITLE,
        columns=("year", "framework", "posts", "percent"),
        rows=(*rows, *((year, "all", n, 100.0) for year, n in years.items())),
        figure=Figure("lines", x="year", y="posts", series="framework"),
        note="The first and the last year may be incomplete.",
    )
