"""When a post was written, and when somebody last touched it."""

from __future__ import annotations

from datetime import date
from typing import Any

import ibis

from sleuth.study.select.values import BadFilter, first_moment, last_moment, table

KEYS = {
    "created": "posts written on these days (UTC), both included",
    "active": "posts last edited, answered or commented on these days",
}
EXAMPLES: tuple[dict[str, Any], ...] = (
    {"created": {"since": date(2017, 1, 1), "until": date(2018, 12, 31)}},
    {"created": {"until": "2016-06-30"}},
    {"active": {"since": date(2020, 2, 29)}},
)


def keep(posts: Any, name: str, value: Any) -> Any:
    wanted = table(name, value, "since", "until")
    since = first_moment(f"{name}.since", wanted["since"]) if "since" in wanted else None
    until = last_moment(f"{name}.until", wanted["until"]) if "until" in wanted else None
    if since is not None and until is not None and since > until:
        raise BadFilter(f"{name}: since {wanted['since']} is after until {wanted['until']}, no post can be both")
    moment = posts.created_ms if name == "created" else posts.active_ms
    kept = []
    if since is not None:
        kept.append(moment >= since)
    if until is not None:
        kept.append(moment <= until)
    return ibis.and_(*kept).fill_null(False)
