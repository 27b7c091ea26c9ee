"""From an exception to a finding, where its message is known and says what is wrong with the program."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import islice
from typing import cast

from sleuth import handbook
from sleuth.findings import Certainty, Evidence, Finding, Link, Place
from sleuth.known_errors import Match, Strength, matches, read
from sleuth.known_errors.signatures import Signature, all_signatures
from sleuth.live import ranks
from sleuth.live.crashes import arrays
from sleuth.live.crashes.at_hand import AtHand
from sleuth.live.crashes.meaning import REFINED, Meaning, meaning
from sleuth.live.crashes.scene import Scene
from sleuth.live.signals import Crash
from sleuth.program import is_users, place_at

# More tensors than these bury those that matter.
_MOST_SHOWN = 6
_LONGEST_MESSAGE = 300
_ARTICLES = ("A", "An", "The", "One", "Two", "This", "These")
# Their pages speak of another matter than an error with these words does.
_BESIDE_THE_POINT = {
    *("tensors-of-different-lengths", "singular-matrix", "out-of-memory-cpu", "inference-tensor"),
    # A key that any dictionary may lack.
    "history-key",
}
# Errors of Python itself, which say too little to guess from.
_OF_PYTHON = ("python", "installation")
_TRACEBACK = "Traceback (most recent call last)"
_BETWEEN_RANKS = os.path.join("torch", "distributed", "")
# What live may have named before, and an error of which it leads to.
_LEADS_TO = {
    "loss-without-graph": {"graph-cut", "parameters-not-in-optimizer", "optimizer-of-frozen-parameters"},
    "modules-in-plain-list": {"consumed-generator"},
    "layer-made-in-forward": {"consumed-generator"},
    "does-not-fit-the-card": {"loss-keeps-graph", "graph-grows-every-step"},
    "backward-twice": {"graph-grows-every-step"},
    "device-mismatch": {"batch-left-on-cpu"},
}


def crash_of(error: Exception, at_hand: AtHand) -> Crash:
    """The error as the rules see it, with its explanation where there is one. Holds nothing of the program."""
    told = _told_by(error)
    scene = Scene(told or error)
    crash = Crash(type(scene.error).__name__, str(scene.error), scene.place)
    if told is not None:
        with at_hand.quietly():
            crash.explanation = _explained(scene, at_hand)
    return crash


def _told_by(error: BaseException | None) -> BaseException | None:
    """The error that says what went wrong: one that the program raises on purpose says so itself, and needs no word of
    ours, unless it stands for another one."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if not Scene(error).is_deliberate:
            return error if isinstance(error, Exception) else None
        seen.add(id(error))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return None


def _explained(scene: Scene, at_hand: AtHand) -> Finding | None:
    match = _known(scene.error)
    if match is None or isinstance(scene.error, Warning) or _is_told_elsewhere(scene):
        return None
    found = meaning(match, scene, at_hand)
    if found is None:
        return None
    certainty = found.certainty or cast(Certainty, match.signature.certainty)
    place = _place_in_another_process(scene.error) or scene.place
    return handbook.finding(
        found.diagnosis,
        title=found.title,
        place=place,
        certainty=certainty,
        severity="note" if certainty == "hint" else "error",
        step=at_hand.step,
        evidence=(*found.evidence, *_evidence(match, scene, at_hand)),
        chain=_chain(found, match, place),
        fixes=found.fixes,
    )


def _known(error: BaseException) -> Match | None:
    """The message to believe, if one that can be told of."""
    text = f"{type(error).__name__}: {error}"
    for match in matches(read(text)):
        signature = match.signature
        if not signature.wraps:
            return match if match.strength is Strength.STATED and _can_be_told(signature) else None
    return None


def _can_be_told(signature: Signature) -> bool:
    """Is the page it points to about this very crash, rather than about what may lie behind it?"""
    name = signature.diagnosis
    if name is None or signature.symptom or name == "rank-ended-early" or signature.kind == "performance":
        return False
    if signature.name in _BESIDE_THE_POINT or (signature.certainty == "hint" and signature.framework in _OF_PYTHON):
        return False
    effect = handbook.page(name).effect
    if signature.kind == "training-anomaly":
        # Someone has asked for an error at the first NaN.
        return effect == "nan"
    return (
        effect in ("crash", "out-of-memory") or signature.certainty == "certain" or signature.name == "optimizer-empty"
    )


def diagnoses() -> frozenset[str]:
    """Every diagnosis that an error may be explained by."""
    by_message = {one.diagnosis for one in all_signatures() if _can_be_told(one) and one.diagnosis is not None}
    return frozenset(by_message | set(REFINED))


def _is_told_elsewhere(scene: Scene) -> bool:
    """The error of a process that was spawned is told there. A collective call that fails tells of a partner that is
    gone, of which `ranks.merge` has the story."""
    if type(scene.error).__name__ == "ProcessRaisedException":
        return True
    return ranks.world() > 1 and any(spot.is_in(_BETWEEN_RANKS) for spot in scene.inside[-3:])


def _place_in_another_process(error: BaseException) -> Place | None:
    """The user's innermost line in a worker, whose traceback is a part of the message (or its cause, in a pool)."""
    text = f"{error}\n{error.__cause__}"
    if not _is_of_another_process(error):
        return None
    frames = [(os.path.abspath(frame.path), frame.line) for frame in read(text).frames if os.path.isfile(frame.path)]
    own = [frame for frame in frames if is_users(frame[0])]
    return place_at(*own[-1]) if own else None


def _is_of_another_process(error: BaseException) -> bool:
    return _TRACEBACK in str(error) or _TRACEBACK in str(error.__cause__)


def _evidence(match: Match, scene: Scene, at_hand: AtHand) -> list[Evidence]:
    found = [Evidence("error", _line_of(match)[:_LONGEST_MESSAGE])]
    if _is_of_another_process(scene.error):
        return found
    layer = scene.layer
    if layer is not None and layer.module.extra_repr():
        found.append(Evidence(layer.called, layer.module.extra_repr()))
    for name, value in islice(scene.operands.items(), _MOST_SHOWN):
        found.append(Evidence(name, arrays.described(value)))
    if at_hand.batch is not None and at_hand.batch.indices:
        found.append(Evidence("samples in the batch", at_hand.batch.indices))
    return found


def _line_of(match: Match) -> str:
    """The line of the message that says it: the first may only say who passes it on."""
    text, start = match.found.string, match.found.start()
    return text[text.rfind("\n", 0, start) + 1 :].partition("\n")[0].strip()


def _chain(found: Meaning, match: Match, place: Place | None) -> tuple[Link, ...]:
    if found.chain and found.title is not None:
        return found.chain
    why = match.recognised.why.rstrip(".")
    first, _, rest = why.partition(" ")
    return (*found.chain, Link(f"{first.lower() if first in _ARTICLES else first} {rest}", place))


def is_explained_by(explanation: Finding, told: Iterable[Finding]) -> bool:
    """Has the cause of this error been named already?"""
    causes = {explanation.diagnosis} | _LEADS_TO.get(explanation.diagnosis, set())
    return any(finding.diagnosis in causes and finding.severity != "note" for finding in told)
