"""An answer of `sleuth ask`, for a person and for another program."""

from __future__ import annotations

import json
import textwrap
from typing import Any

from sleuth.triage import Answer, Diagnosis, Step
from sleuth.triage.starting import NOTEBOOK, SCRIPT

_KINDS = {
    "implementation": "a question of how to build something",
    "program-crash": "a program that crashes",
    "training-anomaly": "a training that goes wrong",
    "model-migration": "a model on its way to another place",
    "performance": "a matter of time or memory",
    "comprehension": "a question of understanding",
    "installation": "an installation that does not fit",
}
_NOTHING_FITS = {
    "implementation": "No diagnosis fits: Sleuth finds mistakes, and this asks how to build something. The framework's "
    "own documentation is the place to look.",
    "comprehension": "No diagnosis fits: Sleuth finds mistakes, and this asks what something means. `sleuth explain` "
    "lists what the handbook explains.",
    "installation": "No diagnosis fits: this is about what is installed rather than about a program.",
}
_OFF_TOPIC = (
    "This does not seem to be about a deep-learning program, and Sleuth knows nothing else. If it is, name the "
    "framework or paste the error."
)
_NOTHING_FITS_OTHERWISE = "No diagnosis fits what the text says. With the error message or more of the log it may."
_SURE = {"certain": "certain", "likely": "likely", "hint": "possible"}
_LEAST_SHOWN = 0.1
_NARROWEST = 40


def as_json(answer: Answer, indent: int | None = None) -> str:
    separators = (",", ":") if indent is None else None
    return json.dumps(_data(answer), indent=indent, ensure_ascii=False, separators=separators)


def _data(answer: Answer) -> dict[str, Any]:
    data: dict[str, Any] = {
        "schema": 1,
        "kind": answer.kind,
        "probabilities": {kind: round(value, 4) for kind, value in answer.probabilities.items()},
        "diagnoses": [_diagnosis_data(diagnosis) for diagnosis in answer.diagnoses],
        "next": [{"command": step.command, "why": step.why} for step in answer.next],
    }
    if answer.signature is not None:
        signature = answer.signature
        data["signature"] = {
            "name": signature.name,
            "framework": signature.framework,
            "matched": signature.matched,
            "why": signature.why,
            "certainty": signature.certainty,
        }
    if answer.off_topic:
        data["off_topic"] = True
    if answer.place is not None:
        data["place"] = {"path": answer.place.path, "line": answer.place.line}
    return data


def _diagnosis_data(diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "name": diagnosis.name,
        "title": diagnosis.title,
        "why": diagnosis.why,
        "score": diagnosis.score,
        "matched": list(diagnosis.matched),
        "page": diagnosis.page,
    }


def as_text(answer: Answer, *, colour: bool, width: int) -> str:
    ink = _Ink(colour, max(_NARROWEST, width))
    if answer.off_topic:
        return "\n".join(ink.wrapped(_OFF_TOPIC, 0))
    blocks = [_kind(answer, ink), _recognised(answer, ink), _diagnoses(answer, ink), _next(answer, ink)]
    return "\n\n".join("\n".join(block) for block in blocks if block)


class _Ink:
    """Bold, colours and wrapping; none of the first two for a pipe."""

    def __init__(self, colour: bool, width: int) -> None:
        self.colour = colour
        self.width = width

    def styled(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text

    def bold(self, text: str) -> str:
        return self.styled(text, "1")

    def dim(self, text: str) -> str:
        return self.styled(text, "38;5;243")

    def name(self, text: str) -> str:
        return self.styled(text, "38;5;31")

    def wrapped(self, text: str, indent: int) -> list[str]:
        """The text made safe to show, and folded."""
        safe = "".join(character if character.isprintable() else " " for character in text)
        margin = " " * indent
        return textwrap.wrap(
            safe,
            self.width,
            initial_indent=margin,
            subsequent_indent=margin,
            break_on_hyphens=False,
            break_long_words=False,
        ) or [margin]


def _kind(answer: Answer, ink: _Ink) -> list[str]:
    ranked = sorted(answer.probabilities.items(), key=lambda item: -item[1])
    likely = ", ".join(f"{kind} {value:.0%}" for kind, value in ranked if value >= _LEAST_SHOWN)
    if answer.kind is None:
        return [ink.bold("Kind: not sure") + (ink.dim(f" ({likely})") if likely else "")]
    share = f" ({answer.probabilities[answer.kind]:.0%})"
    return [ink.bold(f"Kind: {answer.kind}") + f"{share}, {_KINDS[answer.kind]}"]


def _recognised(answer: Answer, ink: _Ink) -> list[str]:
    signature = answer.signature
    if signature is None:
        return []
    lines = [ink.bold("What it says")]
    lines += [ink.styled(line, "38;5;130") for line in ink.wrapped(signature.matched, 2)]
    lines += ink.wrapped(signature.why, 2)
    if answer.place is not None:
        function = f", in {answer.place.function}" if answer.place.function not in ("", "<module>") else ""
        lines.append(ink.dim("  Your line: ") + f"{answer.place.path}:{answer.place.line}{function}")
    return lines


def _diagnoses(answer: Answer, ink: _Ink) -> list[str]:
    if not answer.diagnoses:
        if answer.signature is not None:
            return []
        return ink.wrapped(_NOTHING_FITS.get(answer.kind or "", _NOTHING_FITS_OTHERWISE), 0)
    lines = [ink.bold("What fits")]
    told = answer.signature.why if answer.signature is not None else ""
    for diagnosis in answer.diagnoses:
        lines.append(f"  {ink.name(diagnosis.name)}  {diagnosis.title} ({diagnosis.score:.0%})")
        if diagnosis.why != told:
            lines += ink.wrapped(diagnosis.why, 4)
        lines.append(ink.dim("    More: ") + diagnosis.page)
    return lines


def _next(answer: Answer, ink: _Ink) -> list[str]:
    if not answer.next:
        return []
    lines = [ink.bold("What to run next")]
    for step in answer.next:
        lines.append(f"  {ink.name(step.command)}")
        lines += ink.wrapped(step.why, 4)
    if any(_is_placeholder(step) for step in answer.next):
        lines.append(ink.dim(f"  ({SCRIPT} stands for your own script)"))
    if any(NOTEBOOK in step.command for step in answer.next):
        lines.append(ink.dim(f"  ({NOTEBOOK} stands for your own notebook)"))
    return lines


def _is_placeholder(step: Step) -> bool:
    return step.command.endswith(f" {SCRIPT}")
