"""What a corpus holds and what it lacks, counted in one reading of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

_COUNTED = ("views", "score", "created_ms")


@dataclass(frozen=True)
class Holdings:
    """Of the posts that ask something: all but answers."""

    posts: int
    kinds: dict[str, int]
    sites: dict[str, int]
    first_ms: int | None
    last_ms: int | None
    # Beyond the first post of each key.
    repeated: int
    without_text: int
    without_title: int
    without_tags: int
    without_views: int
    without_score: int
    without_created_ms: int
    accepted: int

    @property
    def dates(self) -> str:
        """`2015-11-10 to 2021-03-02`; empty where no post has a date."""
        if self.first_ms is None or self.last_ms is None:
            return ""
        return f"{day(self.first_ms)} to {day(self.last_ms)}"


def day(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc).strftime("%Y-%m-%d")


def holdings(asked: Any) -> Holdings:
    """Of a table of posts without answers."""
    counted = _one(asked.aggregate(**_lacks(asked)))
    return Holdings(
        kinds=kinds(asked), sites=_by(asked, "site"), repeated=counted["posts"] - counted.pop("keys"), **counted
    )


def kinds(posts: Any) -> dict[str, int]:
    """How many questions, issues, answers, … there are."""
    return _by(posts, "kind_of_post")


def _lacks(asked: Any) -> dict[str, Any]:
    def how_many(condition: Any) -> Any:
        return condition.fill_null(False).cast("int64").sum().fill_null(0)

    lacks = {f"without_{name}": how_many(asked[name].isnull()) for name in _COUNTED}
    return lacks | {
        "posts": asked.count(),
        "keys": asked.key.nunique(),
        "first_ms": asked.created_ms.min(),
        "last_ms": asked.created_ms.max(),
        "without_text": how_many(asked.text.fill_null("").strip() == ""),
        "without_title": how_many(asked.title.fill_null("").strip() == ""),
        "without_tags": how_many(asked.tags.isnull() | (asked.tags.length() == 0)),
        "accepted": how_many(asked.accepted_answer.notnull() | asked.accepted_ms.notnull()),
    }


def _one(expression: Any) -> dict[str, Any]:
    row: dict[str, Any] = expression.to_pyarrow().to_pylist()[0]
    return row


def _by(posts: Any, name: str) -> dict[str, int]:
    column = posts[name].fill_null("other")
    rows = posts.group_by(value=column).aggregate(posts=posts.count()).to_pyarrow().to_pylist()
    return {row["value"]: row["posts"] for row in sorted(rows, key=lambda row: (-row["posts"], row["value"]))}
