"""What became of a post: answered, accepted, closed."""

from __future__ import annotations

from typing import Any

from sleuth.study.select.values import yes_or_no

KEYS = {
    "accepted": "questions with an accepted answer (false: without)",
    "answered": "questions with at least one answer (false: with none)",
    "closed": "posts that were closed (false: still open)",
}
EXAMPLES: tuple[dict[str, Any], ...] = tuple({name: yes} for name in KEYS for yes in (True, False))


def keep(posts: Any, name: str, value: Any) -> Any:
    if name == "closed":
        was = posts.closed_ms.notnull()
        return was if yes_or_no(name, value) else ~was
    accepted = posts.accepted_answer.notnull() | posts.accepted_ms.notnull()
    was = accepted if name == "accepted" else accepted | (posts.answers > 0).fill_null(False)
    # Nobody answers a commit: it is not an unanswered question.
    return was if yes_or_no(name, value) else ~was & (posts.kind_of_post == "question").fill_null(False)
