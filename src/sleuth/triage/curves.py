"""What the numbers of a log say: a loss that falls is no problem, and one that stands still needs no complaint."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sleuth.triage.prose import complains, prose

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
# `loss: 0.31`, `'eval_loss': 0.27`, `val_acc=0.9`, `Train loss 2.3`
_METRIC = re.compile(
    rf"(?<![\w./])(?P<split>(?:train(?:ing)?|val(?:id(?:ation)?)?|eval|test)[ _/-])?(?P<what>loss|acc(?:uracy)?)"
    rf"['\"]?\s{{0,2}}[:=]?\s{{0,2}}(?P<value>{_NUMBER})(?P<percent>\s?%)?(?![\w.])",
    re.IGNORECASE,
)
# A curve is that of at least so many points; to say that it rises takes some more.
_SHORT, _LONG = 4, 5
# Curves are noisy: so much worse than it was is worse.
_WORSE, _MUCH_WORSE = 1.1, 1.5
_ALL_RIGHT = 0.98
# A log with a question in it is a question.
_MOSTLY = 0.3


@dataclass(frozen=True, slots=True)
class Curve:
    """What a log shows: a diagnosis that fits, or None where its numbers are as they should be."""

    diagnosis: str | None
    why: str = ""
    shown: str = ""


def curve(text: str) -> Curve | None:
    """What the numbers of a training's log show; None where there is no such log, or they do not tell."""
    series = _series(text)
    if "loss" not in series and not any(name.endswith("accuracy") for name in series):
        return None
    return _still(series) or _parting(series) or _rising(series) or _falling(series, text)


def _series(text: str) -> dict[str, list[float]]:
    """The numbers by their names. Training's own have no prefix: `train_loss` and `loss` are one."""
    series: dict[str, list[float]] = {}
    for line in text.splitlines():
        for name, value in {_name(found): _value(found) for found in _METRIC.finditer(line)}.items():
            series.setdefault(name, []).append(value)
    return series


def _name(found: re.Match[str]) -> str:
    what = "loss" if found["what"].lower() == "loss" else "accuracy"
    split = (found["split"] or "").lower()
    return what if not split or split.startswith("train") else f"validation {what}"


def _value(found: re.Match[str]) -> float:
    return float(found["value"]) / (100 if found["percent"] else 1)


def _still(series: dict[str, list[float]]) -> Curve | None:
    for name in ("accuracy", "validation accuracy"):
        values = series.get(name, [])
        if len(values) >= _SHORT and len(set(values)) == 1 and values[0] < _ALL_RIGHT:
            why = f"the {name} is {values[0]:g} each of the {len(values)} times that the log tells it"
            return Curve("stuck-at-chance", why, f"{name} {values[0]:g}")
    return None


def _parting(series: dict[str, list[float]]) -> Curve | None:
    trained, tested = series.get("loss", []), series.get("validation loss", [])
    if len(trained) < _LONG or len(tested) < _LONG or trained[-1] >= trained[0]:
        return None
    best = min(tested)
    if tested.index(best) > len(tested) // 2 or tested[-1] < best + (_WORSE - 1) * abs(best):
        return None
    why = f"the validation loss rises from {best:g} to {tested[-1]:g} while the training loss falls to {trained[-1]:g}"
    return Curve("overfitting", why, f"validation loss {tested[-1]:g}")


def _rising(series: dict[str, list[float]]) -> Curve | None:
    values = series.get("loss", [])
    third = len(values) // 3
    if len(values) < _LONG or min(values) < 0:
        return None
    first, last = sum(values[:third]) / third, sum(values[-third:]) / third
    if last <= _MUCH_WORSE * first:
        return None
    return Curve("loss-diverges", f"the loss grows from about {first:g} to {last:g}", f"loss {values[-1]:g}")


def _falling(series: dict[str, list[float]], text: str) -> Curve | None:
    """Nothing but a log, whose loss falls: nobody says that something is wrong, and nothing is."""
    values = series.get("loss", [])
    lines = [line for line in text.splitlines() if line.strip()]
    spoken = prose(text)
    asks = (
        "?" in spoken or complains(spoken) or sum(map(bool, map(str.strip, spoken.splitlines()))) > _MOSTLY * len(lines)
    )
    return None if asks or len(values) < _SHORT - 1 or values[-1] >= values[0] else Curve(None)
