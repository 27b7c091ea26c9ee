"""How sure it is that a crash in the rehearsal would be one in the real run."""

from __future__ import annotations

import os
import re
from dataclasses import replace

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _messages, _scene
from sleuth.findings import Evidence, Finding

# What a program gathers round by round has fewer elements where rounds were left out.
_GATHERING = {"cat", "concat", "stack", "vstack", "hstack", "tensor", "as_tensor", "from_numpy", "setitem_"}

_BEYOND = re.compile(r"out of bounds|out of range")


def tempered(finding: Finding, crash: Crash) -> Finding:
    """The finding, as a hint where leaving out rounds or assuming values may be what made it crash."""
    if not crash.stage.journal.assumptions:
        return finding
    if raised_by_torch(crash) and not _depends_on_rounds(crash):
        return replace(finding, certainty="likely") if crash.stage.fake and _guesses(crash) else finding
    why = "rounds were left out or values assumed before; this may come from that"
    return replace(
        finding,
        certainty="hint",
        severity="note",
        evidence=(*finding.evidence, Evidence("less than certain", why)),
    )


def raised_by_torch(crash: Crash) -> bool:
    """Did torch refuse, rather than an assert or a plain line of the program?"""
    if crash.call is not None:
        return True
    spots = _scene.spots(crash)
    return bool(spots) and f"{os.sep}torch{os.sep}" in spots[-1].code.co_filename


def _depends_on_rounds(crash: Crash) -> bool:
    """Is it about what the program has gathered from many rounds?"""
    call = crash.call
    if call is None or call.layer:
        return False
    if not call.births:
        return call.operation in _GATHERING
    if not (_messages.is_about_shapes(crash.message) or _BEYOND.search(_messages.said(crash.error))):
        return False
    return any(one.operation in _GATHERING and not one.layer for birth in call.births for one in birth.ancestors())


def _guesses(crash: Crash) -> bool:
    return any("assumed" in what for _, what in crash.stage.journal.assumptions)
