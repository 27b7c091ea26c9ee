"""One row of a Stack Exchange dump, read by an XML parser: slow, exact, and the rule for the fast way."""

from __future__ import annotations

from xml.parsers import expat

from sleuth.study.ingest import prose
from sleuth.study.ingest.post import Post, post
from sleuth.study.ingest.values import Unfit, key_of, tags_of, time_ms, whole

# `/>` may stand in a value too, but rarely does.
_ENDS_TRIED = 8
KINDS = {1: "question", 2: "answer"}
# The attribute of a dump that holds a column, for all that are taken over as they are.
NUMBERS = {
    "id": "Id",
    "parent": "ParentId",
    "accepted_answer": "AcceptedAnswerId",
    "score": "Score",
    "views": "ViewCount",
    "answers": "AnswerCount",
    "comments": "CommentCount",
    "owner": "OwnerUserId",
}
TIMES = {"created_ms": "CreationDate", "closed_ms": "ClosedDate", "active_ms": "LastActivityDate"}


def row(data: bytes, site: str) -> Post:
    """The post of `<row … />`. Raises Unfit."""
    return post_of(attributes(data), site)


def end_of_row(data: bytes) -> int | None:
    """Where a well-formed row ends that has something else, a broken row without its beginning say, behind it."""
    end = 0
    for _ in range(_ENDS_TRIED):
        end = data.find(b"/>", end) + 2
        if end < 2 or not data[end:].strip():
            return None
        try:
            attributes(data[:end])
        except Unfit:
            continue
        return end
    return None


def attributes(data: bytes) -> dict[str, str]:
    """Raises Unfit where this is not one well-formed, empty element."""
    found: list[dict[str, str]] = []
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = lambda name, given: found.append(given)
    try:
        parser.Parse(data.strip().removesuffix(b"</posts>"), True)
    except expat.ExpatError as error:
        raise Unfit(f"not well-formed: {expat.ErrorString(error.code)}, {error.offset} characters on") from None
    if len(found) != 1:
        raise Unfit("the row holds other elements")
    return found[0]


def post_of(given: dict[str, str], site: str) -> Post:
    numbers = {column: whole(given.get(name), name) for column, name in NUMBERS.items()}
    if numbers["id"] is None:
        raise Unfit("it has no Id")
    times = {column: time_ms(given.get(name), name) for column, name in TIMES.items()}
    kind = whole(given.get("PostTypeId"), "PostTypeId")
    body = given.get("Body")
    text, code = prose.of_html(body) if body is not None else (None, [])
    return post(
        key=key_of(site, numbers["id"]),
        site=site,
        kind_of_post=KINDS.get(kind or 0, "other"),
        title=given.get("Title"),
        text=text,
        code=code,
        tags=tags_of(given.get("Tags")),
        **numbers,
        **times,
    )
