"""A small corpus written out by hand, and labels for it, to count by hand what an analysis should say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from functools import cache
from typing import Any

import pyarrow as pa

from sleuth.study import analyses, engine
from sleuth.study.analyses import Skipped
from sleuth.study.corpus import COLUMNS
from sleuth.study.label.store import Label
from sleuth.study.material import Material, gather
from sleuth.study.published import load_study
from sleuth.study.result import Result
from sleuth.study.schemes import settle

DAY = 86_400_000


def at(day: str) -> int:
    """Milliseconds since 1970 of a day, such as 2018-12-31, at midnight UTC."""
    return round(datetime.fromisoformat(day).replace(tzinfo=timezone.utc).timestamp() * 1000)


def post(key: str, **said: Any) -> dict[str, Any]:
    """A question on Stack Overflow, or a GitHub issue where the key says so, with whatever else is said."""
    on_github = key.startswith("gh:")
    usual = {
        "key": key,
        "id": None if on_github else int(key.split(":")[1]),
        "site": "github" if on_github else "stackoverflow",
        "kind_of_post": "issue" if on_github else "question",
        "tags": [],
        "code": [],
    }
    return {**dict.fromkeys(COLUMNS.names), **usual, **said}


def labels(scheme: str, said: Mapping[str, str] | Iterable[tuple[str, str]], rater: str = "final") -> list[Label]:
    pairs = said.items() if isinstance(said, Mapping) else said
    return [Label(key, scheme, label, rater) for key, label in pairs]


@cache
def _connection() -> Any:
    return engine.connect()


def material(posts: list[dict[str, Any]], said: Iterable[Label] = (), study: str | None = None) -> Material:
    connection = _connection()
    table = engine.small_table(connection, pa.Table.from_pylist(posts, schema=COLUMNS))
    chosen = load_study(study) if study else None
    return gather(connection, None, settle(said), chosen, posts=table)


def answer(of: Material, name: str) -> Result:
    """The one result that this analysis has."""
    (found,) = analyses.run(of, [name])
    assert isinstance(found, Result), found
    return found


def refusal(of: Material, name: str) -> str:
    """Why this analysis cannot answer."""
    (found,) = analyses.run(of, [name])
    assert isinstance(found, Skipped), found
    return found.why


def column(result: Result, name: str) -> dict[Any, Any]:
    """One column by the name of the row."""
    return {row[0]: row[result.columns.index(name)] for row in result.rows}
