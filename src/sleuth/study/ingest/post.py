"""One post, whatever it was exported as: a row with every column of a corpus."""

from __future__ import annotations

from typing import Any

from sleuth.study.corpus import COLUMNS

Post = dict[str, Any]
_EMPTY: Post = dict.fromkeys(COLUMNS.names)


def post(**known: Any) -> Post:
    """A row in which all that is not known is empty."""
    row = {**_EMPTY, **known}
    row["code"] = row["code"] or []
    row["tags"] = row["tags"] or []
    return row
