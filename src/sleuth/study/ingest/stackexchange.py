"""Questions and answers as the Stack Exchange API gives them."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from typing import Any

from sleuth.study.ingest import prose
from sleuth.study.ingest.post import Post, post
from sleuth.study.ingest.values import Unfit, key_of, site_of_link, tags_of, text_of, time_ms, whole


def fits(record: dict[str, Any]) -> bool:
    return "question_id" in record or "answer_id" in record or "post_id" in record


def posts(record: dict[str, Any], site: str) -> Iterator[Post]:
    """The item itself, then the answers that came with it."""
    site = site_of_link(record.get("link")) or site
    answers = record.get("answers")
    inner = [item for item in answers if isinstance(item, dict)] if isinstance(answers, list) else []
    row = _post(record, site)
    for answer in inner:
        chosen = row["accepted_answer"] is not None and answer.get("answer_id") == row["accepted_answer"]
        if chosen or answer.get("is_accepted") is True:
            row["accepted_ms"] = time_ms(answer.get("creation_date"), "creation_date")
    yield row
    for answer in inner:
        yield _post({"question_id": row["id"], **answer}, site)


def _post(record: dict[str, Any], site: str) -> Post:
    kind, number, parent = _identity(record)
    owner = record.get("owner")
    title = text_of(record.get("title"))
    text, code = _prose(record)
    return post(
        key=key_of(site, number),
        id=number,
        site=site,
        kind_of_post=kind,
        parent=parent,
        accepted_answer=whole(record.get("accepted_answer_id"), "accepted_answer_id"),
        created_ms=time_ms(record.get("creation_date"), "creation_date"),
        closed_ms=time_ms(record.get("closed_date"), "closed_date"),
        active_ms=time_ms(record.get("last_activity_date"), "last_activity_date"),
        score=whole(record.get("score"), "score"),
        views=whole(record.get("view_count"), "view_count"),
        answers=whole(record.get("answer_count"), "answer_count"),
        comments=whole(record.get("comment_count"), "comment_count"),
        owner=whole(owner.get("user_id"), "user_id") if isinstance(owner, dict) else None,
        # The API escapes titles as if they stood in a page.
        title=unescape(title) if title is not None else None,
        text=text,
        code=code,
        tags=tags_of(record.get("tags")),
    )


def _identity(record: dict[str, Any]) -> tuple[str, int, int | None]:
    """What it is, its number, and the question that it answers."""
    question = whole(record.get("question_id"), "question_id")
    answer = whole(record.get("answer_id"), "answer_id")
    if answer is not None:
        return "answer", answer, question
    if question is not None:
        return "question", question, None
    number = whole(record.get("post_id"), "post_id")
    if number is None:
        raise Unfit("it has no id")
    kind = record.get("post_type")
    return kind if kind in ("question", "answer") else "other", number, None


def _prose(record: dict[str, Any]) -> tuple[str | None, list[str]]:
    body, markdown = text_of(record.get("body")), text_of(record.get("body_markdown"))
    if body is not None:
        return prose.of_html(body)
    return prose.of_markdown(unescape(markdown)) if markdown is not None else (None, [])
