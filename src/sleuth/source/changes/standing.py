"""How a change stands to the versions that a project allows: nothing to say, deprecated, gone in some, gone in all."""

from __future__ import annotations

from enum import Enum

from sleuth.source.changes import Change
from sleuth.source.versions import Allowed


class Standing(Enum):
    FINE = "fine"
    DEPRECATED = "deprecated"
    PARTLY_GONE = "gone in some"
    GONE = "gone in all"


def standing(change: Change, allowed: Allowed) -> Standing:
    if change.back is not None and allowed.always_has(change.back):
        return Standing.FINE
    if change.removed is not None and allowed.reaches(change.removed):
        in_all = allowed.always_has(change.removed) and _never_back(change, allowed)
        return Standing.GONE if in_all else Standing.PARTLY_GONE
    if change.since is not None and allowed.reaches(change.since) and replaceable(change, allowed):
        return Standing.DEPRECATED
    return Standing.FINE


def replaceable(change: Change, allowed: Allowed) -> bool:
    """Is the new way there in every version the project allows?"""
    return allowed.always_has(change.arrived or ())


def _never_back(change: Change, allowed: Allowed) -> bool:
    return change.back is None or not allowed.reaches(change.back)
