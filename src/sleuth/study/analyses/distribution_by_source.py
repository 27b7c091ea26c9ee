"""How often each label was given, on Stack Overflow, on GitHub and in forums."""

from __future__ import annotations

from sleuth.study.material import Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import CannotAnswer, shares_within

TITLE = "Labels by source"
NEEDS = ("posts", "labels")
STUDIES = ("islam", "wang")
KEYS = 2


def analyse(material: Material) -> Result:
    rows = shares_within(material.labelled(), "platform", "label")
    if len({row[0] for row in rows}) < 2:
        raise CannotAnswer("the labelled posts all come from one source")
    return Result(
        name="distribution_by_source",
        title=TITLE,
        columns=("source", "label", "posts", "percent"),
        rows=rows,
        figure=Figure("stacked-bars", x="source", y="percent", series="label"),
        note="Percent of the source's labels.",
    )
