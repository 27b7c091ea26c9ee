"""Issues, pull requests and commits as GitHub's API, or its command line, gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sleuth.study.ingest import prose
from sleuth.study.ingest.post import Post, post
from sleuth.study.ingest.values import Unfit, tags_of, text_of, time_ms, whole

_REPOSITORY = re.compile(r"(?:https?://)?(?:api\.|www\.)?github\.com/(?:repos/)?([\w.-]+/[\w.-]+)")


def fits(record: dict[str, Any]) -> bool:
    return _is_commit(record) or ("number" in record and "title" in record)


def posts(record: dict[str, Any], site: str) -> Iterator[Post]:
    yield _commit(record) if _is_commit(record) else _issue(record)


def _is_commit(record: dict[str, Any]) -> bool:
    return "sha" in record and isinstance(record.get("commit"), dict)


def _issue(record: dict[str, Any]) -> Post:
    number = whole(record.get("number"), "number")
    if number is None:
        raise Unfit("it has no number")
    links = [record.get(name) for name in ("html_url", "url", "repository_url")]
    is_pull = bool(record.get("pull_request")) or any("/pull" in link for link in links if isinstance(link, str))
    body = text_of(record.get("body"))
    text, code = prose.of_markdown(body) if body is not None else (None, [])
    return post(
        key=f"gh:{_repository(links)}#{'pull' if is_pull else 'issues'}/{number}",
        id=number,
        site="github",
        kind_of_post="pull-request" if is_pull else "issue",
        created_ms=_time(record, "created_at", "createdAt"),
        closed_ms=_time(record, "closed_at", "closedAt"),
        active_ms=_time(record, "updated_at", "updatedAt"),
        score=_reactions(record),
        comments=_count(record.get("comments"), "comments"),
        owner=_number_of(record.get("user")),
        title=text_of(record.get("title")),
        text=text,
        code=code,
        tags=tags_of(record.get("labels")),
    )


def _commit(record: dict[str, Any]) -> Post:
    """Its message's first line is the title, what it changes is the code."""
    inner = record["commit"]
    title, _, rest = (text_of(inner.get("message")) or "").partition("\n")
    text, code = prose.of_markdown(rest)
    files = record.get("files")
    patches = (
        [text_of(file.get("patch")) for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    )
    signed = [inner.get(who) for who in ("author", "committer")]
    dates = [time_ms(who.get("date"), "date") for who in signed if isinstance(who, dict)]
    return post(
        key=f"gh:{_repository([record.get('html_url'), record.get('url')])}#commit/{text_of(record['sha'])}",
        site="github",
        kind_of_post="commit",
        created_ms=dates[0] if dates else None,
        active_ms=dates[-1] if dates else None,
        comments=_count(inner.get("comment_count"), "comment_count"),
        owner=_number_of(record.get("author")),
        title=title.strip(),
        text=text,
        code=[*code, *(patch for patch in patches if patch)],
    )


def _repository(links: list[Any]) -> str:
    for link in links:
        if isinstance(link, str) and (found := _REPOSITORY.match(link)):
            return found.group(1)
    return "?"


def _time(record: dict[str, Any], *names: str) -> int | None:
    for name in names:
        if record.get(name) is not None:
            return time_ms(record[name], name)
    return None


def _reactions(record: dict[str, Any]) -> int | None:
    reactions = record.get("reactions")
    return _count(reactions, "total_count") if isinstance(reactions, dict) else None


def _count(value: Any, what: str) -> int | None:
    """Of a list, or as one of the interfaces has counted."""
    if isinstance(value, dict):
        value = value.get("total_count", value.get("totalCount"))
    return len(value) if isinstance(value, list) else whole(value, what)


def _number_of(person: Any) -> int | None:
    return whole(person.get("id"), "id") if isinstance(person, dict) and isinstance(person.get("id"), int) else None
