"""Posts that speak of NaN or of infinity."""

from __future__ import annotations

from typing import Any

from sleuth.study.select import patterns
from sleuth.study.select.filters.words import found

KEYS = {
    "nan_or_inf": 'posts that mention NaN or Inf as a word, in title or text; ["title", "text", "code"]: where to look'
}
EXAMPLES: tuple[dict[str, Any], ...] = (
    {"nan_or_inf": True},
    {"nan_or_inf": False},
    {"nan_or_inf": ["title"]},
    {"nan_or_inf": ["title", "text", "code"]},
)
# Not "infinite": loops are.
_WORDS = ("nan", "nans", "inf", "infs", "infinity", "infinities")
# Code sets a best loss to `float("inf")` and marks what is missing with `np.nan`: no sign of trouble.
_PLACES = ["title", "text"]


def keep(posts: Any, name: str, value: Any) -> Any:
    places = _PLACES if isinstance(value, bool) else value
    mentions = found(posts, name, places, patterns.word(*_WORDS))
    return ~mentions if value is False else mentions
