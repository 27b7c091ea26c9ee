"""Types that do not go together, where nothing more special is known."""

from __future__ import annotations

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _messages, _use, _words
from sleuth.dry.crashes._odd_type import births_of, odd_type
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding


def explain(crash: Crash) -> Finding | None:
    if not _messages.is_about_types(crash.message):
        return None
    found = odd_type(crash)
    if found is not None:
        return told(
            "dtype-mismatch",
            crash,
            title=f"{found.called} is {found.birth.dtype}, {found.other.name or 'the rest'} is {found.wanted}",
            evidence=found.evidence,
            chain=found.chain,
            fixes=[_use.followed_by(crash, found.birth, f".to(torch.{found.wanted})", "")],
        )
    births = [one for one in births_of(crash) if not _history.is_weight(one)]
    # Of `x[i]` it is the index whose type is wrong.
    birth = next(reversed(births) if "used as indices" in crash.message else iter(births), None)
    if birth is None or crash.call is None:
        return told("dtype-mismatch", crash, title=crash.message.splitlines()[0])
    return told(
        "dtype-mismatch",
        crash,
        title=f"{_words.operation(crash.call.operation)} cannot be done with {_words.of_type(birth.dtype)}",
        chain=_history.of_types(birth),
    )
