"""How much a post was liked, looked at and talked about."""

from __future__ import annotations

from typing import Any

import ibis

from sleuth.study.select.values import table, whole_number

KEYS = {
    "score": "posts with a score from min to max",
    "views": "posts looked at so often",
    "answers": "questions with so many answers",
    "comments": "posts with so many comments",
}
EXAMPLES: tuple[dict[str, Any], ...] = (
    {"score": {"min": 5}},
    {"score": {"min": -1, "max": 0}},
    {"views": {"min": 1000}},
    {"answers": {"max": 1}},
    {"comments": {"min": 2, "max": 3}},
)


def keep(posts: Any, name: str, value: Any) -> Any:
    wanted = table(name, value, "min", "max")
    kept = []
    if "min" in wanted:
        kept.append(posts[name] >= whole_number(f"{name}.min", wanted["min"]))
    if "max" in wanted:
        kept.append(posts[name] <= whole_number(f"{name}.max", wanted["max"]))
    return ibis.and_(*kept).fill_null(False)
