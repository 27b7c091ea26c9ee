"""Filters within filters: any of several sets of them, or none of them."""

from __future__ import annotations

from typing import Any

import ibis

from sleuth.study.select.values import BadFilter

KEYS = {
    "any": "posts that at least one of these sets of filters keeps",
    "not": "posts that this set of filters does not keep",
}
EXAMPLES: tuple[dict[str, Any], ...] = (
    {"any": [{"kind": "question", "score": {"min": 5}}, {"kind": "commit", "fix_commit": True}]},
    {"not": {"tags": {"any": ["r"]}}},
)


def keep(posts: Any, name: str, value: Any) -> Any:
    from sleuth.study.select import filters

    several = value if name == "any" else [value]
    if not isinstance(several, list) or not several or not all(isinstance(one, dict) and one for one in several):
        raise BadFilter(f"{name} takes {'a list of tables' if name == 'any' else 'a table'} of filters, not {value!r}")
    kept = ibis.or_(*(filters.keep(posts, one) for one in several))
    return ~kept if name == "not" else kept
