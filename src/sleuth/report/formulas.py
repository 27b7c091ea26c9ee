"""Formulas, calls and amounts among words: where a line is wrapped, they stay whole."""

from __future__ import annotations

import re

# Stands for a space at which no line may end; text made safe to show has none of its own.
GLUE = "\ue000"
_OPERATION = re.compile(r"(?<=[\w)\]]) ((?:\*\*|//|[=!<>]=|[-+*/@=<>×·÷−])) (?=[\w(\[.-])")
_CALL = re.compile(r"[\w.\]]+\(")
_QUOTED = re.compile(r"`[^`]+`")
_AMOUNT = re.compile(r"(?<=\d) (?=(?:bytes|[KMGT]i?B|%)(?!\w))")


def glued(text: str, room: int) -> str:
    """The text with the spaces of its formulas glued, wherever the whole formula has room on one line."""
    held = _QUOTED.sub(lambda quoted: quoted[0].replace(" ", GLUE), text)
    held = _OPERATION.sub(rf"{GLUE}\1{GLUE}", held)
    held = _AMOUNT.sub(GLUE, held)
    for call in _CALL.finditer(text):
        end = _closing(text, call.end())
        held = held[: call.start()] + held[call.start() : end].replace(" ", GLUE) + held[end:]
    return re.sub(r"\S+", lambda word: word[0] if len(word[0]) <= room else word[0].replace(GLUE, " "), held)


def _closing(text: str, start: int) -> int:
    """Behind the parenthesis that closes the one before `start`; `start` itself where none does."""
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at + 1
    return start
