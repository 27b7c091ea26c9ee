"""The tags of a question, the labels of an issue."""

from __future__ import annotations

from typing import Any

import ibis

from sleuth.study.select import patterns
from sleuth.study.select.values import table, texts

KEYS = {"tags": "posts that have any, all or none of these tags; tensorflow* is every tag that begins so"}
EXAMPLES: tuple[dict[str, Any], ...] = (
    {"tags": {"any": ["tensorflow*", "pytorch"]}},
    {"tags": {"all": ["python", "*torch*"]}},
    {"tags": {"none": ["keras", "c++"]}},
    {"tags": {"any": ["type: bug", "theano"], "none": ["a[b]^c"]}},
)
# No tag holds it: two tags never read as one.
_MARK = "\x1f"


def keep(posts: Any, name: str, value: Any) -> Any:
    wanted = table(name, value, "any", "all", "none")
    joined = (_MARK + posts.tags.join(_MARK) + _MARK).fill_null("")
    kept = []
    for how, tags in wanted.items():
        several = texts(f"{name}.{how}", tags)
        if how == "all":
            kept += [joined.re_search(patterns.whole([tag], _MARK)) for tag in several]
        else:
            found = joined.re_search(patterns.whole(several, _MARK))
            kept.append(~found if how == "none" else found)
    return ibis.and_(*kept)
