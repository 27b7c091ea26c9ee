"""Tensors of one call on two devices, where nothing more special is known."""

from __future__ import annotations

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _holders, _messages, _moving, _words
from sleuth.dry.crashes._stray import Stray, stray
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix


def explain(crash: Crash) -> Finding | None:
    if not _messages.is_about_devices(crash.message):
        return None
    found = stray(crash)
    if found is None:
        return told("device-mismatch", crash, title=crash.message.splitlines()[0])
    return told(
        "device-mismatch",
        crash,
        title=_title(crash, found),
        evidence=found.evidence,
        chain=found.chain,
        fixes=[_fix(crash, found)],
    )


def _title(crash: Crash, found: Stray) -> str:
    if _is_unmoved_model(crash, found):
        return f"the model is still on {found.birth.device}, what it is given on {found.wanted}"
    origin = found.origin
    how = "made on" if _history.is_weight(found.birth) else f"{_words.operation(origin.operation)},"
    line = f"line {origin.place.line}" if origin.place is not None else ""
    made = (f" ({how} {line})" if found.has_a_name else f" on {line}") if line else ""
    return f"{found.name}{made} is on {found.birth.device}, the rest on {found.wanted}"


def _is_unmoved_model(crash: Crash, found: Stray) -> bool:
    owned = _holders.owner(crash, found.birth) if _history.is_weight(found.birth) else None
    if owned is None:
        return False
    births = [crash.stage.births[one] for one in owned[0].parameters()]
    return bool(births) and all(birth is None or birth.device == found.birth.device for birth in births)


def _fix(crash: Crash, found: Stray) -> Fix | None:
    if _is_unmoved_model(crash, found):
        return Fix(f'move the model before its first use: `model.to("{found.wanted.removesuffix(":0")}")`')
    made_there = _moving.made_there(crash, found)
    if made_there is not None:
        return made_there
    if _history.is_weight(found.birth):
        return Fix(f"move the model once more after this part was added: `.to({found.wanted!r})`")
    return _moving.to_the_others(crash, found)
