"""What a sample is stratified by: a column, the year, a tag, or a label that posts have already."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import ibis
import pyarrow as pa

from sleuth.study import engine
from sleuth.study.label.sizes import BadSize
from sleuth.study.label.store import Label
from sleuth.study.years import year_of

EVERYTHING = "all"
UNKNOWN = "unknown"
OTHER_TAG = "other"
UNLABELLED = "unlabelled"
DISPUTED = "disputed"
# A text, a list or a name of its own for every post makes no strata.
_COLUMNS = ("site", "kind_of_post", "score", "views", "answers", "comments")


def stratum_of(posts: Any, by: str | None) -> Any:
    """The stratum of a post as an Ibis expression: by `year`, `tag:a,b,c` (the first that it has), or a column."""
    if by is None:
        return ibis.literal(EVERYTHING)
    if by == "year":
        return year_of(posts.created_ms).cast("string").fill_null(UNKNOWN)
    if by.startswith("tag:"):
        tags = [tag.strip() for tag in by.removeprefix("tag:").split(",") if tag.strip()]
        if not tags:
            raise BadSize("which tags? Say tag:tensorflow,pytorch")
        return ibis.cases(*((posts.tags.contains(tag), tag) for tag in tags), else_=OTHER_TAG)
    if by in _COLUMNS:
        return posts[by].cast("string").fill_null(UNKNOWN)
    raise BadSize(f"cannot stratify by {by!r}; use year, tag:a,b, label, {', '.join(_COLUMNS)}")


def labelled(connection: Any, posts: Any, labels: Iterable[Label]) -> Any:
    """The posts with one more column: the label that all raters gave, or that they did not agree."""
    agreed: dict[str, set[str]] = defaultdict(set)
    for label in labels:
        agreed[label.key].add(label.label or "")
    names = [next(iter(given)) if len(given) == 1 else DISPUTED for given in agreed.values()]
    table = pa.table({"labelled_key": pa.array(list(agreed), pa.string()), "stratum": pa.array(names, pa.string())})
    known = engine.small_table(connection, table)
    joined = posts.left_join(known, posts.key == known.labelled_key)
    return joined.mutate(stratum=joined.stratum.fill_null(UNLABELLED))
