"""Rows of named columns (CSV, Parquet, flat JSON): which of them means what, and the post they make."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sleuth.study.ingest import prose
from sleuth.study.ingest.post import Post, post
from sleuth.study.ingest.values import Unfit, key_of, site_of_key, tags_of, text_of, time_ms, whole

# Names are compared in lower case, without `_`, `-` and blanks: `CreationDate` and `creation date` both fit.
NAMES = {
    "key": "key",
    "id": "id postid questionid number",
    "site": "site",
    "kind": "posttypeid posttype kindofpost kind type",
    "parent": "parent parentid",
    "accepted_answer": "acceptedanswer acceptedanswerid",
    "created": "created createdms createdat creationdate date",
    "accepted": "accepted acceptedms acceptedat accepteddate",
    "closed": "closed closedms closedat closeddate",
    "active": "active activems lastactivitydate updatedat updated",
    "score": "score votes",
    "views": "views viewcount",
    "answers": "answers nanswers answercount numanswers",
    "comments": "comments ncomments commentcount numcomments",
    "owner": "owner owneruserid userid",
    "title": "title subject",
    "body": "body html bodyhtml bodymarkdown markdown",
    "text": "text content description question",
    "code": "code",
    "tags": "tags labels tag",
}
_MEANING = {name: meaning for meaning, names in NAMES.items() for name in names.split()}
_KINDS = {"1": "question", "2": "answer", "pr": "pull-request", "pull": "pull-request", "issues": "issue"}
_KNOWN_KINDS = ("question", "answer", "issue", "pull-request", "commit", "other")
_GITHUB = re.compile(r"gh:[^#]*#(issues|issue|pull|commit)/(.+)")


def meanings(names: Iterable[str], asked: Mapping[str, str]) -> dict[str, str]:
    """For each thing a post has, the column that holds it. `asked`, by the user, comes before what names suggest."""
    found = dict(asked)
    for name in names:
        meaning = _MEANING.get(re.sub(r"[\s_-]", "", name).lower())
        if meaning is not None and meaning not in found and name not in asked.values():
            found[meaning] = name
    return found


def are_posts(found: Mapping[str, str]) -> bool:
    return not found.keys().isdisjoint(("title", "text", "body"))


def row_of(values: Mapping[str, Any], site: str, number: int) -> Post:
    """The post of a row, its values under the names of `NAMES`. A row without key and id is known by its number."""
    key, site, identity = _identity(values, site, number)
    text, code = _prose(values, site)
    return post(
        key=key,
        id=identity,
        site=site,
        kind_of_post=_kind(values.get("kind"), key),
        parent=whole(values.get("parent"), "parent"),
        accepted_answer=whole(values.get("accepted_answer"), "accepted_answer"),
        created_ms=time_ms(values.get("created"), "created"),
        accepted_ms=time_ms(values.get("accepted"), "accepted"),
        closed_ms=time_ms(values.get("closed"), "closed"),
        active_ms=time_ms(values.get("active"), "active"),
        score=whole(values.get("score"), "score"),
        views=whole(values.get("views"), "views"),
        answers=whole(values.get("answers"), "answers"),
        comments=whole(values.get("comments"), "comments"),
        owner=whole(values.get("owner"), "owner"),
        title=text_of(values.get("title")),
        text=text,
        code=code,
        tags=tags_of(values.get("tags")),
    )


def _identity(values: Mapping[str, Any], site: str, number: int) -> tuple[str, str, int | None]:
    """Key, site and id; each may follow from another."""
    key, identity = text_of(values.get("key")), whole(values.get("id"), "id")
    site = text_of(values.get("site")) or (site_of_key(key) if key and ":" in key else site)
    if not key:
        identity = number if identity is None else identity
        return key_of(site, identity), site, identity
    if identity is None:
        last = re.split(r"[:/#]", key)[-1]
        is_number = re.fullmatch(r"[0-9]{1,18}", last) is not None and "#commit/" not in key
        identity = int(last) if is_number else None
    return key, site, identity


def _kind(value: Any, key: str) -> str:
    if value in (None, ""):
        place = _GITHUB.match(key)
        if key.startswith("http"):
            return "other"
        return "question" if place is None else _KINDS.get(place.group(1), place.group(1).removesuffix("s"))
    name = str(value).lower().removesuffix(".0")
    name = _KINDS.get(name, name)
    return name if name in _KNOWN_KINDS else "other"


def _prose(values: Mapping[str, Any], site: str) -> tuple[str | None, list[str]]:
    body, text = text_of(values.get("body")), text_of(values.get("text"))
    kept = values.get("code")
    if isinstance(kept, str):
        kept = [kept] if kept else []
    elif kept is not None and not isinstance(kept, (list, tuple)):
        raise Unfit("code is neither a text nor a list of texts")
    given = [text_of(block) or "" for block in kept or []]
    if body is None and (text is None or kept is not None):
        return text, given
    whole_text = body if body is not None else text or ""
    if site != "github" and prose.is_html(whole_text):
        plain, code = prose.of_html(whole_text)
    else:
        plain, code = prose.of_markdown(whole_text)
    return plain, [*given, *code]
