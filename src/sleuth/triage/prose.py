"""The part of a text in which somebody speaks, apart from the code and logs that are pasted into it."""

from __future__ import annotations

import re

_SENTENCE_END = re.compile(r"[.?!:;](?=\s|$)|\n\s*\n|\n(?=\s*[-*\d>])")
# A line with more than this share of signs is code or a log, and says little by its words.
_MOST_SIGNS = 0.12
_SIGN = re.compile(r"[=()\[\]{}<>|/\\_:;#*+\"'^~%$@&\d]")
_CODE = re.compile(
    r"^\s*(?:>>>|import |from \S+ import|def |class |@|#|File \"|\^|~~)|^(?: {4,}|\t)\S|[=(\[{,]\s*$|^\s*[)\]}]"
)
_WISH = re.compile(
    r"\b(?:how (?:to|do|can|could|would|should)|is there (?:a|any)|what(?: is|'s| are| does)|(?<!, )which|can i|"
    r"difference)\b",
    re.IGNORECASE,
)
_COMPLAINT = re.compile(
    r"\b(?:nan|inf|infinity|stuck|explod\w*|diverg\w*|vanish\w*|overfit\w*|wrong|worse|poor|bad|never|always|unstable|"
    r"fluctuat\w*|oscillat\w*|forgot|dead|overflow\w*|underflow\w*|slow\w*|leak\w*|out of memory|fail\w*|low accuracy|"
    r"worr(?:y|ies|ied|ying)|strange\w*|weird\w*|suspicious\w*|unexpected\w*|mismatch\w*|drift\w*|apart|inconsistent\w*|"
    r"(?:not|\w+n't|stops?) (?:learn\w*|train\w*|converg\w*|improv\w*|chang\w*|updat\w*|"
    r"work\w*|decreas\w*|increas\w*|mov\w*|fall\w*|drop\w*))\b",
    re.IGNORECASE,
)


def prose(text: str) -> str:
    """The lines in which somebody speaks; all of a text that is one line."""
    lines = text.strip().splitlines()
    if len(lines) == 1:
        return lines[0]
    return "\n".join(line if not line.strip() or is_prose(line) else "\n" for line in lines)


def sentences(text: str) -> list[str]:
    return _SENTENCE_END.split(text)


def is_a_wish(text: str) -> bool:
    """Does it ask how to do or understand something?"""
    return _WISH.search(text) is not None


def complains(text: str) -> bool:
    """Does it say that something goes wrong?"""
    return _COMPLAINT.search(text) is not None


def is_prose(line: str) -> bool:
    return len(line.split()) > 2 and not _CODE.search(line) and len(_SIGN.findall(line)) <= _MOST_SIGNS * len(line)
