"""Short texts that a pattern matches, one for each way through its alternatives."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice, product
from typing import Any

if hasattr(re, "_parser"):
    parse: Any = re._parser.parse
else:
    from sre_parse import parse

# So many ways at most through one part of a pattern, and through the whole.
_PART, _WHOLE = 60, 3000
_SIGNS = {"CATEGORY_SPACE": " ", "CATEGORY_DIGIT": "7", "CATEGORY_WORD": "w"}


def samples(pattern: re.Pattern[str]) -> list[str]:
    """Texts that it matches. (Look-arounds are left out, so that some it does not are made, and left out as well.)"""
    return [text for text in _ways(parse(pattern.pattern), _WHOLE) if pattern.search(text)]


def _ways(parsed: Iterable[Any], most: int = _PART) -> list[str]:
    parts = [_part(str(kind), value) for kind, value in parsed]
    return ["".join(way) for way in islice(product(*parts), most)]


def _part(kind: str, value: Any) -> list[str]:
    if kind == "LITERAL":
        return [chr(value)]
    if kind in ("ANY", "NOT_LITERAL"):
        return ["x"]
    if kind == "IN":
        return [_sign(*value[0])]
    if kind in ("MAX_REPEAT", "MIN_REPEAT"):
        least, most, inner = value
        once = _ways(inner)
        return (["", *once] if int(most) == 1 else [""]) if least == 0 else [way * least for way in once]
    if kind == "SUBPATTERN":
        return _ways(value[-1])
    if kind == "BRANCH":
        return [way for branch in value[1] for way in _ways(branch)]
    return [""]


def _sign(kind: Any, value: Any) -> str:
    if str(kind) == "LITERAL":
        return chr(value)
    return chr(value[0]) if str(kind) == "RANGE" else _SIGNS.get(str(value), "x")
