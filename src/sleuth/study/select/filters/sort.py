"""What sort of post it is, and where it was written."""

from __future__ import annotations

from typing import Any

from sleuth.study.select import patterns
from sleuth.study.select.values import BadFilter, texts

KINDS = ("question", "answer", "issue", "pull-request", "commit", "other")
KEYS = {
    "kind": f"posts of these kinds: {', '.join(KINDS)}",
    "site": "posts of these sites: stackoverflow, github, *.stackexchange",
}
EXAMPLES: tuple[dict[str, Any], ...] = (
    {"kind": "question"},
    {"kind": ["issue", "commit"]},
    {"site": "stackoverflow"},
    {"site": ["*.stackexchange", "GitHub"]},
)
# Between such marks a name is found whole.
_MARK = "\x1f"


def keep(posts: Any, name: str, value: Any) -> Any:
    unknown = [kind for kind in texts(name, value) if name == "kind" and kind.lower() not in KINDS]
    if unknown:
        raise BadFilter(f"there is no kind {unknown[0]!r}; there are {', '.join(KINDS)}")
    column = posts.kind_of_post if name == "kind" else posts.site
    pattern = patterns.whole(texts(name, value), _MARK)
    return (_MARK + column + _MARK).re_search(pattern).fill_null(False)
