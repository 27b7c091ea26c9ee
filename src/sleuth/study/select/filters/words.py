"""Posts that use certain words."""

from __future__ import annotations

from typing import Any

import ibis

from sleuth.study.select import patterns
from sleuth.study.select.values import BadFilter, table, texts

KEYS = {"words": "posts that use any, all or none of these words or phrases, in the title and the text"}
EXAMPLES: tuple[dict[str, Any], ...] = (
    {"words": {"any": ["out of memory", "OOM"]}},
    {"words": {"all": ["gpus", "loss"], "none": ["keras"]}},
    {"words": {"any": ["how to"], "in": ["title"]}},
    {"words": {"any": ["optimizer.step()"], "in": ["code"]}},
)
PLACES = ("title", "text", "code")


def keep(posts: Any, name: str, value: Any) -> Any:
    wanted = table(name, value, "any", "all", "none", "in")
    places = wanted.get("in", ["title", "text"])
    kept = []
    for how in ("any", "all", "none"):
        if how not in wanted:
            continue
        several = texts(f"{name}.{how}", wanted[how])
        if how == "all":
            kept += [found(posts, f"{name}.in", places, patterns.word(one)) for one in several]
        else:
            there = found(posts, f"{name}.in", places, patterns.word(*several))
            kept.append(~there if how == "none" else there)
    if not kept:
        raise BadFilter(f"{name} needs any, all or none beside in")
    return ibis.and_(*kept)


def found(posts: Any, name: str, places: Any, pattern: str) -> Any:
    """Whether the pattern is found in one of the places of a post: its title, its text, its code."""
    looked_at = texts(name, places)
    if set(looked_at) - set(PLACES):
        raise BadFilter(f"{name} takes some of {', '.join(PLACES)}, not {places!r}")
    columns = [posts.code.join("\n") if place == "code" else posts[place] for place in looked_at]
    return ibis.or_(*(column.re_search(pattern).fill_null(False) for column in columns))
