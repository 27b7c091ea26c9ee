"""What `sleuth dry` says besides its findings: how it was rehearsed, what was assumed, what was kept off."""

from __future__ import annotations

from sleuth.findings import place_to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sleuth.dry.journal import Assumption, Outcome
    from sleuth.dry.rehearsal import Rehearsal

_MOST = 12
_HOW = {
    "ended": "to its end",
    "raised": "until it crashed",
    "out of time": "until its time was over",
    "cannot go on": "as far as it goes here",
    "interrupted": "until it was interrupted",
    "died": "until its process died",
    "too expensive": "as far as real numbers are affordable",
}


def facts(done: Rehearsal) -> dict[str, Any]:
    """The same for a program to read."""
    plain, scenario = done.plain, done.scenario
    return {
        "how": plain.how,
        "numbers": scenario.numbers,
        "device": scenario.device,
        "cards": scenario.cards,
        "card_bytes": scenario.card_bytes,
        "acts": plain.acts,
        "corners": list(done.corners),
        "corners_left_out": done.left_out,
        "assumptions": [{"place": place_to_json(a.place), "what": a.what, "times": a.times} for a in plain.assumptions],
        "kept_off": [{"act": act, "what": what} for act, what in plain.kept_off],
        "memory": plain.notes.get("memory"),
        "last_words": plain.last_words,
    }


def lines(done: Rehearsal) -> list[str]:
    """The lines, the first the most important."""
    plain, scenario = done.plain, done.scenario
    numbers = "real numbers" if scenario.numbers == "real" else "fake tensors (shapes, no numbers)"
    cards = {0: "without a card"}.get(scenario.cards, f"{scenario.cards} x {scenario.device}")
    if scenario.device == "cpu":
        cards = "on the CPU"
    told = [
        f"sleuth: rehearsed {_HOW[plain.how]} with {numbers}, {cards} of {scenario.card_bytes / (1 << 30):g} GB; "
        f"{plain.acts.get('step', 0)} training steps, {len(done.report.findings)} found"
    ]
    if plain.how in ("cannot go on", "out of time"):
        told.append(f"  it ends here: {_end(plain)}")
    told += [f"    | {line}" for line in plain.last_words]
    if done.corners:
        told.append("  and " + "; ".join(map(_title, done.corners)))
    if done.left_out:
        told.append("  not tried, it takes too long: " + "; ".join(map(_title, done.left_out)))
    memory = plain.notes.get("memory")
    if memory is not None:
        told += _memory(memory, scenario.card_bytes)
    told += _listed("assumed", [_assumption(one) for one in plain.assumptions])
    told += _listed("kept off", [f"{act} {what}" for act, what in plain.kept_off])
    return told


def _title(corner: str) -> str:
    from sleuth.dry import corners

    return str(corners.module(corner).TITLE)


def _end(outcome: Outcome) -> str:
    place = outcome.end.get("place")
    where = f"{place['path']}:{place['line']} " if place else ""
    return f"{where}{outcome.end.get('detail', '')}".strip() or "nobody knows where"


def _assumption(one: Assumption) -> str:
    where = "" if one.place is None else f"{one.place.path}:{one.place.line} "
    return f"{where}{one.what}" + (f" ×{one.times}" if one.times > 1 else "")


def _memory(memory: dict[str, object], card: int) -> list[str]:
    from sleuth.dry.memory.estimate import sentence

    told = sentence(memory, card)
    return [f"  {told}"] if told else []


def _listed(what: str, items: list[str]) -> list[str]:
    more = [f"    and {len(items) - _MOST} more"] if len(items) > _MOST else []
    return [f"  {what}:", *(f"    {item}" for item in items[:_MOST]), *more] if items else []
