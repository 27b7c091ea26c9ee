"""How often each label was given, framework by framework."""

from __future__ import annotations

from sleuth.study.material import Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import CannotAnswer, shares_within

TITLE = "Labels by framework"
NEEDS = ("posts", "labels")
STUDIES = ("islam", "liu", "wang")
KEYS = 2


def analyse(material: Material) -> Result:
    rows = shares_within(material.labelled(), "framework", "label")
    if not rows:
        raise CannotAnswer("none of the posts has a label")
    return Result(
        name="distribution_by_framework",
        title=TITLE,
        columns=("framework", "label", "posts", "percent"),
        rows=rows,
        figure=Figure("stacked-bars", x="framework", y="percent", series="label"),
        note="Percent of the framework's labels.",
    )
