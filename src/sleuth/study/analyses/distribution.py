"""How often each label was given."""

from __future__ import annotations

from sleuth.study.material import Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import by_size, collect, percent

TITLE = "How often each label was given"
NEEDS = ("labels",)
STUDIES = ("zhang", "islam", "liu", "wang")


def analyse(material: Material) -> Result:
    labels = material.labels_of()
    counts = {row["label"]: row["n"] for row in collect(labels.group_by("label").aggregate(n=labels.count()))}
    (posts,) = collect(labels.aggregate(n=labels.key.nunique()))
    given = sum(counts.values())
    rows = by_size((label, n, percent(n, given)) for label, n in counts.items())
    disputed = material.disputed.get(material.scheme(), 0)
    notes = (
        f"{posts['n']:,} posts.",
        f"{disputed:,} more are left out: their raters differ." if disputed else "",
        f"Some have several labels, {given:,} in all, and count once for each." if given > posts["n"] else "",
    )
    return Result(
        name="distribution",
        title=TITLE,
        columns=("label", "posts", "percent"),
        rows=rows,
        figure=Figure("bars", x="label", y="posts"),
        note=" ".join(note for note in notes if note),
    )
