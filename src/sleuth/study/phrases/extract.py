"""The verb and the object of a how-to title: `How to slice a tensor by indices` is (slice, tensor).

No grammar and no model: the verb is what follows `how to`, the object the head of what follows the verb, and where
either says little (`use`, `the shape of`) the next phrase is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sleuth.study.phrases.inflection import plain
from sleuth.study.phrases.lexicon import Lexicon, lexicon
from sleuth.study.phrases.senses import FORMS_OF_DATA, phase_of, sense_of

_ANCHOR = re.compile(
    r"\bhow\s+(?:to|do\s+(?:i|we|you|one)|(?:can|could|should|would|does|did)\s+(?:i|we|you|one))\b"
    r"|\b(?:is\s+there\s+(?:a|any|some)|what(?:'s|\s+is|\s+are)\s+the|the|a|any)\s+(?:\w+\s+)?ways?\s+(?:to|of)\b"
    r"|\b(?:is\s+it\s+possible|(?:un)?able|want|need|trying|possible)\s+to\b"
    r"|\b(?:can|could)\s+(?:i|we|you|one)\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"\.?\w[\w.+#'/*-]*|[,;:()\[\]?!&]")
_TWO_WORDS = re.compile("tensor flow", re.IGNORECASE)
# The parts of a name: CrossEntropyLoss, batch_size, tf.data.
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# What ends a phrase. `of` and the like lead on to what the phrase is about; `to` and `with` to something else.
_LEADING_ON = frozenset("of in from for inside within over on through between across by at per".split())
_LEADING_AWAY = frozenset(
    "to into as onto with using via without when while after before during where which that if so and or but".split()
)
# With these, what is acted on is where something goes: `add a value to a tensor`.
_TOWARDS = frozenset("add append insert assign feed connect".split())
_LIGHT = frozenset(
    "use apply do make perform implement take have run work go handle deal set write create build define compute "
    "get".split()
)
_ARTICLES = frozenset(
    "a an the my your its this these those their our own new custom given existing single another other different "
    "any".split()
)


@dataclass(frozen=True)
class Phrase:
    """What a title asks to do, and to what. Names are those of the codebooks `verbs`, `phases` and `taxonomy`."""

    verb: str
    group: str | None
    object: str
    phase: str
    # The word of the title that the verb was.
    word: str

    @property
    def label(self) -> str:
        """As the codebook `taxonomy` has it."""
        return f"{self.phase}/{self.object}"


@dataclass(frozen=True)
class _Chunk:
    """Words between two prepositions, and the one that led here."""

    lead: str
    words: tuple[str, ...]


def extract(title: str) -> Phrase | None:
    """The verb phrase of a title; None where it asks to do nothing."""
    words = lexicon()
    tokens = _tokens(title)
    start = _verb_at(tokens, words, asked=_ANCHOR.search(title) is not None)
    if start is None:
        return None
    word = tokens[start]
    verb = words.verbs.get(plain(word, words.verbs)) or words.actions.get(word, word)
    chunks = _chunks(tokens[start + 1 :])
    if word in _LIGHT:
        verb, chunks = _heavier(verb, chunks, words)
    thing = _object(verb, chunks, words)
    others = {found for chunk in chunks for found in [_head(chunk.words, words)[0]] if found}
    verb, thing = sense_of(verb, thing, others, _near(chunks))
    phase, thing = phase_of(verb, thing)
    return Phrase(verb, words.groups.get(verb), thing, phase, word)


def _near(chunks: Sequence[_Chunk]) -> set[str]:
    """The words close to the verb: further away they belong to something else."""
    return {word for chunk in chunks[:2] for word in (chunk.lead, *chunk.words)}


def _tokens(title: str) -> list[str]:
    """The words of the part that asks, in small letters, without names of frameworks."""
    text = _TWO_WORDS.sub("tensorflow", title).replace("’", "'").replace("()", "")
    asks = _ANCHOR.search(text)
    if asks:
        text = f"{text[asks.end() :]} , {text[: asks.start()]}"
    frameworks = lexicon().frameworks
    found = (part for token in _TOKEN.findall(text) for part in _apart(token.rstrip(".'*-/")))
    words = [_name(token) for token in found if token and token.lower() not in frameworks]
    return [word for word in words if word not in frameworks]


def _apart(token: str) -> list[str]:
    """`save/restore` is two words, `train/test` one."""
    return [token] if token.lower() in lexicon().objects or token.lower() in lexicon().actions else token.split("/")


def _name(token: str) -> str:
    """A word as it is; of a name out of a program, `nn.CrossEntropyLoss`, the last part that names an object."""
    known = lexicon().objects
    whole = token.lower()
    parts = _PART.findall(token)
    if whole in known or len(parts) < 2 or "-" in token:
        return whole
    return next((part.lower() for part in reversed(parts) if plain(part.lower(), known) in known), whole)


def _verb_at(tokens: Sequence[str], words: Lexicon, asked: bool) -> int | None:
    """The first word that is no adverb: after `how to` it is the verb, whatever it is; else if it is a known one."""
    for position, token in enumerate(tokens):
        known = plain(token, words.verbs) in words.verbs
        if token in words.adverbs or (token.endswith("ly") and not known) or not token[0].isalnum():
            continue
        return position if known or (asked and token[0].isalpha()) else None
    return None


def _chunks(tokens: Sequence[str]) -> list[_Chunk]:
    found: list[_Chunk] = []
    lead, words = "", list[str]()
    for token in tokens:
        if token in _LEADING_ON or token in _LEADING_AWAY or not (token[0].isalnum() or token[0] in "._"):
            found.append(_Chunk(lead, tuple(words)))
            lead, words = token, []
        elif token not in _ARTICLES:
            words.append(token)
    found.append(_Chunk(lead, tuple(words)))
    return found


def _heavier(verb: str, chunks: list[_Chunk], words: Lexicon) -> tuple[str, list[_Chunk]]:
    """`use X to slice Y` is to slice Y, and `take the average of Y` to average Y."""
    if verb == "use":
        for position, chunk in enumerate(chunks[1:3], 1):
            first = plain(chunk.words[0], words.verbs) if chunk.words else ""
            by_form = chunk.lead == "to" or (chunk.lead == "for" and chunk.words and chunk.words[0].endswith("ing"))
            if by_form and first in words.verbs:
                rest = [_Chunk("", chunk.words[1:]), *chunks[position + 1 :]]
                return words.verbs[first], rest if any(one.words for one in rest) else chunks
    for chunk in [chunks[0], *(one for one in chunks[1:3] if verb == "use" and one.lead == "for")]:
        action = next((words.actions[word] for word in reversed(chunk.words) if word in words.actions), None)
        action = action or (_gerund(chunk.words[-1], words) if chunk.words else None)
        if action is not None:
            return action, chunks
    return verb, chunks


def _gerund(word: str, words: Lexicon) -> str | None:
    """`slicing` is to slice; `pooling` is a layer."""
    is_object = plain(word, words.objects) in words.objects
    return words.verbs.get(plain(word, words.verbs)) if word.endswith("ing") and not is_object else None


def _object(verb: str, chunks: Sequence[_Chunk], words: Lexicon) -> str:
    """The head of the first phrase; where that only names a side of something, the next that says more."""
    weak = None
    for position, chunk in enumerate(chunks):
        leads_away = chunk.lead in _LEADING_AWAY and not (verb in _TOWARDS and chunk.lead in ("to", "into", "with"))
        if position and leads_away and weak is not None:
            break
        found, sure = _head(chunk.words, words)
        if found and sure:
            return found
        weak = weak or found
    return weak or "data"


def _head(chunk: Sequence[str], words: Lexicon) -> tuple[str | None, bool]:
    """The last word of a phrase that names an object, two words before one; and whether it says what the object is."""
    weak, data = None, False
    for end in range(len(chunk), 0, -1):
        pair = f"{chunk[end - 2]}-{plain(chunk[end - 1], words.objects)}" if end > 1 else ""
        if pair in words.sides:
            return "data", False
        word = plain(chunk[end - 1], words.objects)
        name = words.objects.get(pair) or words.objects.get(word)
        if pair not in words.objects and plain(word, words.sides) in words.sides:
            weak = "data"
        elif name == "data":
            # Of what sort the data are may stand before: `image data`.
            data = True
        elif name is not None and (not data or name in FORMS_OF_DATA):
            return _qualified(name, chunk[:end], words), True
    return ("data", True) if data else (weak, False)


def _qualified(name: str, chunk: Sequence[str], words: Lexicon) -> str:
    if name in ("model", "weight") and words.trained.intersection(chunk):
        return f"trained-{name}"
    return "layer" if name == "model" and words.layered.intersection(chunk) else name
