"""English words in their plain form, by rule: `slicing` and `slices` are `slice`, `matrices` is `matrix`."""

from __future__ import annotations

from collections.abc import Collection, Iterator

_IRREGULAR = {
    "matrices": "matrix",
    "indices": "index",
    "vertices": "vertex",
    "fed": "feed",
    "found": "find",
    "made": "make",
    "built": "build",
    "written": "write",
    "shown": "show",
    "chosen": "choose",
    "got": "get",
    "done": "do",
    "frozen": "freeze",
    "drawn": "draw",
    "biases": "bias",
    "losses": "loss",
}
_DOUBLED = "bdgklmnprtz"


def plain(word: str, known: Collection[str]) -> str:
    """The form of a word that is in `known`; the word itself where no ending taken off makes one."""
    if word in known:
        return word
    return next((form for form in _shorter(word) if form in known), word)


def _shorter(word: str) -> Iterator[str]:
    if word in _IRREGULAR:
        yield _IRREGULAR[word]
    if word.endswith("ies"):
        yield word[:-3] + "y"
    if word.endswith("es"):
        yield word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        yield word[:-1]
    for ending in ("ing", "ed", "er", "or"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            yield from _without(word[: -len(ending)])


def _without(stem: str) -> Iterator[str]:
    yield stem
    yield stem + "e"
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] in _DOUBLED:
        yield stem[:-1]
    if stem.endswith("i"):
        yield stem[:-1] + "y"
