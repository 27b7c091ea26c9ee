"""Questions whose title asks how to do something."""

from __future__ import annotations

from typing import Any

from sleuth.study.select import patterns
from sleuth.study.select.values import BadFilter

KEYS = {"how_to": 'posts whose title asks how to do something; "phrase": only those with the very words "how to"'}
EXAMPLES: tuple[dict[str, Any], ...] = ({"how_to": True}, {"how_to": False}, {"how_to": "phrase"})

_PHRASE = ("how to", "how-to", "howto")
_CAN = "do can could should would may might must shall".split()
_SOMEBODY = "i we you one someone somebody".split()
# "How does X work" and "how do the weights change" ask to understand, not to do.
_ASKS = (
    *_PHRASE,
    *(f"how {can} {who}" for can in _CAN for who in _SOMEBODY),
    *(f"how {who} {can}" for can in _CAN for who in _SOMEBODY),
)


def keep(posts: Any, name: str, value: Any) -> Any:
    if value not in (True, False, "phrase"):
        raise BadFilter(f'{name} is true, false or "phrase", not {value!r}')
    asks = posts.title.re_search(patterns.word(*(_PHRASE if value == "phrase" else _ASKS))).fill_null(False)
    return asks if value else ~asks
