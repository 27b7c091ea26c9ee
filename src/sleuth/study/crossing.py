"""Two questions about the same posts: how often each pair of answers meets, and whether they depend on each other."""

from __future__ import annotations

from typing import Any

from sleuth.study.correlation import dependence
from sleuth.study.material import Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import CannotAnswer, collect, filled, percent, sums


def crossed(material: Material, rows: str, columns: str, name: str, title: str) -> Result:
    """Every answer to the question `rows` against every answer to the question `columns`."""
    met = collect(_pairs(material.labels_of(rows), material.labels_of(columns)))
    counts = {(row["outer"], row["inner"]): row["n"] for row in met}
    if not counts:
        raise CannotAnswer(f"no post has a label in {material.scheme(rows)} and in {material.scheme(columns)}")
    outer_sums, inner_sums = sums(counts)
    table = tuple(
        (first, second, n, percent(n, outer_sums[first]), percent(n, inner_sums[second]))
        for first, second, n in filled(counts, outer_sums, inner_sums)
    )
    return Result(
        name=name,
        title=title,
        columns=(rows, columns, "posts", f"percent of {rows}", f"percent of {columns}"),
        rows=table,
        figure=Figure("heatmap", x=columns, y=rows, value="posts"),
        note=dependence([[counts.get((first, second), 0) for second in inner_sums] for first in outer_sums]),
    )


def _pairs(rows: Any, columns: Any) -> Any:
    """Labels of one post that belong together: the first with the first and so on, where it has as many of both."""
    outer = rows.group_by("key").mutate(outer_items=rows.count()).rename(outer="label", outer_item="item")
    inner = columns.group_by("key").mutate(inner_items=columns.count()).rename(inner="label", inner_item="item")
    both = outer.inner_join(inner, "key")
    both = both.filter((both.outer_items != both.inner_items) | (both.outer_item == both.inner_item))
    return both.group_by("outer", "inner").aggregate(n=both.count())
