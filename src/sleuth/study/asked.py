"""Which posts of a corpus are its subjects: what somebody asked, reported or changed."""

from __future__ import annotations

from typing import Any

_ANSWER, _OTHER = "answer", "other"


def is_asked(posts: Any) -> Any:
    """As an Ibis expression. An answer is none, nor is a page of a dump that explains a tag: a number, and no title."""
    kind = posts.kind_of_post.fill_null(_OTHER)
    return (kind != _ANSWER) & ((kind != _OTHER) | (posts.title.fill_null("") != "") | posts.id.isnull())


def is_asked_in_arrow() -> Any:
    """The same, for a dataset of Arrow, where a comparison with nothing is nothing."""
    import pyarrow.compute as pc

    kind, title = pc.field("kind_of_post"), pc.field("title")
    is_other = kind.is_null() | (kind == _OTHER)
    has_title = title.is_valid() & (title != "")
    return (~is_other & (kind != _ANSWER)) | (is_other & (has_title | pc.field("id").is_null()))
