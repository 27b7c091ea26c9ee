"""Which kind of export a JSON record comes from, and the posts that it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sleuth.study.ingest import columns, github, stackexchange
from sleuth.study.ingest.post import Post
from sleuth.study.ingest.values import Unfit

# Under these an answer of an API holds its list of records.
_LISTS = ("items", "nodes", "data")


def posts_of(record: Any, site: str, number: int, asked: Mapping[str, str]) -> Iterator[Post]:
    """The posts of one record; of a page of records, the posts of all of them. Raises Unfit."""
    if not isinstance(record, dict):
        raise Unfit("it is not an object")
    if stackexchange.fits(record):
        yield from stackexchange.posts(record, site)
    elif "key" not in record and not asked and github.fits(record):
        yield from github.posts(record, site)
    else:
        found = columns.meanings(record, asked)
        if "key" not in found and not columns.are_posts(found):
            raise Unfit("it is neither a post nor an issue nor a commit")
        yield columns.row_of({meaning: record.get(name) for meaning, name in found.items()}, site, number)


def records_in(value: Any) -> list[Any]:
    """A page's records, or the record itself."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict) and isinstance(value.get("data"), dict):
        return _of_graphql(value["data"]) or [value]
    if isinstance(value, dict):
        for name in _LISTS:
            if isinstance(value.get(name), list):
                return list(value[name])
    return [value]


def _of_graphql(data: Any) -> list[Any]:
    """The records of every connection, however deep in the answer; those within a record are its own."""
    if not isinstance(data, dict):
        return []
    if isinstance(data.get("nodes"), list):
        return list(data["nodes"])
    if isinstance(data.get("edges"), list):
        return [edge.get("node") if isinstance(edge, dict) else edge for edge in data["edges"]]
    return [record for inner in data.values() for record in _of_graphql(inner)]
