"""Is a text about deep learning at all? The model of kinds has seen no other, and takes any other for one of its kinds.

A linear model of words, whose numbers `domain.json` holds: `benchmarks/triage/domain.py` trains it on posts about deep
learning beside questions about everything else; `data-card.md` says how it does."""

from __future__ import annotations

import base64
import json
import math
import os
import re
from array import array
from collections import Counter
from functools import cache

from sleuth import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FILE = os.path.join(os.path.dirname(__file__), "domain.json")
# Names that mean one thing only, also as parts of other names. (`layer`, `train` and `weights` have other lives.)
_OURS = re.compile(
    r"torch|tensor(?!ial)|dnn|relu|keras|onnx|cudnn|cublas|softmax|logits|backprop|autograd|state_dict|data ?loader|"
    r"tflite|core ?ml|hyper-?param|num_workers|auto-?encoder|bfloat16|nvidia-smi|gpustat|"
    r"feed-?forward|early ?stopping|(?:neural|deep|convolutional|recurrent) net|"
    r"(?<![a-z])(?:jax|flax|nccl|lstms?|cnns?|mnist|cifar|imagenet|hugging ?face|nans?|int8|b?fp?16|ddp|fsdp|"
    r"(?:train(?:ing)?|val(?:id(?:ation)?)?)[ _](?:loss|acc(?:uracy)?)|overfit(?:s|ting)?|gradient norms?)(?![a-z])",
    re.IGNORECASE,
)
# What every traceback has, and how people ask, says nothing of what it is about.
_TRACEBACK = re.compile(
    r'Traceback \(most recent call last\)|File "[^"\n]*", line \d+(?:, in \S+)?|\b\w+(?:Error|Exception):'
)
_HOW_THEY_ASK = frozenset(
    """a about after again all also am an and another any are as at be because been before being both but by can can't
    cannot could did didn't do does doesn't doing don't each even ever every few for from get gets getting give go goes
    going good got had has have having he help her here hi his how i i'd i'm i've if in into is isn't it it's its just
    keep know let like little look looking lot made make makes many may me might more most much must my need needs never
    new no none nor not nothing now of off often on once one only or other our out over own people please possible
    problem put question rather really right said same say see seems seen several she should show so some someone
    something still such sure take tell than thank thanks that that's the their them then there these they thing things
    think this those through to too tried try trying two under until up us use used uses using usually very want wants
    was way we well were what what's when where whether which while who whole whose why will with within without won't
    work working works would wrong yet you you're your 0""".split()
)
# Below this a text is about something else: one in a hundred posts about deep learning is, by its title alone.
_LEAST = 0.4
# One who complains as people complain of a training is believed sooner.
_LEAST_WITH_A_SYMPTOM = 0.12
# Words that others use, too; with a situation of a training, one of them makes it likelier and two are enough.
_HINTS = re.compile(
    r"\b(?:epoch|batch|loss|accuracy|gradient|network|model|train|checkpoint|gpu|vram|classifier|data ?set|inference|"
    r"validation|weight|iteration|seed|classes|prediction|predict|optimi[sz]er|fine-?tun|rank|sample|learn|curve|"
    r"experiment|[ahv]100|detector|dropout|augmentation|hidden state|decoder|encoder|tokens?\b|f1\b|test set|"
    r"parameter|memori[sz]e|pictures?\b|images?\b|script\b)",
    re.IGNORECASE,
)
_ENOUGH_HINTS = 2


def is_foreign(text: str, complains: bool = False, situated: bool = False) -> bool:
    """Is it about something else, or no more than a word? `complains` is a text with a symptom of a training,
    `situated` one that tells of a situation that trainings get into."""
    if len(text.split()) < 2 and text.isascii():
        return True
    if _OURS.search(text):
        return False
    hints = len({found[0].lower() for found in _HINTS.finditer(text)}) if situated else 0
    if hints >= _ENOUGH_HINTS:
        return False
    return _shipped().share(text) < (_LEAST_WITH_A_SYMPTOM if complains or hints else _LEAST)


def spoken(text: str) -> list[str]:
    """The words of a text that say what it is about."""
    return [word for word in words.words(_TRACEBACK.sub(" ", text)) if word not in _HOW_THEY_ASK]


class Domain:
    """A weight a word, above 0 for deep learning. Words it does not know are of neither, and dilute the others."""

    def __init__(self, numbers: dict[str, Any]) -> None:
        self._index = {word: place for place, word in enumerate(numbers["words"].split("\n"))}
        self._weights = array("b", base64.b64decode(numbers["weights"]))
        self._rarity = base64.b64decode(numbers["rarity"])
        self._step: float = numbers["step"]
        self._unknown: int = numbers["unknown"]
        self._bias: float = numbers["bias"]

    def share(self, text: str) -> float:
        """How likely it is that a text is about deep learning."""
        score = squares = 0.0
        for word, count in Counter(spoken(text)).items():
            place = self._index.get(word)
            value = (self._unknown if place is None else self._rarity[place]) * (1 + math.log(count))
            squares += value * value
            score += 0 if place is None else value * self._weights[place]
        length = math.sqrt(squares) or 1.0
        return 1 / (1 + math.exp(-score * self._step / length - self._bias))


@cache
def _shipped() -> Domain:
    with open(_FILE, encoding="utf-8") as file:
        return Domain(json.load(file))
