"""Which of the seven kinds of problem a text describes: what its error says, blended with what its words say."""

from __future__ import annotations

import re

from sleuth.known_errors import Match, Reading, Strength
from sleuth.triage import model
from sleuth.triage.answer import KINDS
from sleuth.triage.curves import Curve

# Below this probability no kind is named.
SURE = 0.4
# How much an error that is known counts against the words around it. In the midst of a sentence it may be quoted in
# passing, by somebody who asks for something else. Of some 150 labelled posts with one, nine in ten of those with the
# error itself were of its kind, eight behind an error's name, six or seven in a sentence, and nine with a symptom.
_WEIGHTS = {Strength.STATED: 0.9, Strength.NAMED: 0.75, Strength.MENTIONED: 0.5}
_SYMPTOM_WEIGHT = 0.75
# An unknown error is still one, if a traceback ends with it.
_TRACEBACK_WEIGHT = 0.5
_ELSEWHERE_WEIGHT = 0.75
# What the words count in a text of which they can say nothing: too little for any kind to be named.
_FOREIGN_WEIGHT = 0.25

# Whatever goes wrong while a model is taken elsewhere belongs to that.
_ELSEWHERE = re.compile(
    r"\bonnx\b|onnxruntime|tf2onnx|core ?ml\b|coremltools|tf[-. ]?lite|tensorflow[-. ]?(?:lite|js|serving)|tensorrt|"
    r"trtexec|\btoco\b|saved_?model|openvino|torchserve|torch\.jit\.(?:trace|save|load)|libtorch|"
    r"torch\.export\.export|freeze_graph|frozen graph|\bandroid\b|\bios\b|raspberry|sagemaker|cloud ml",
    re.IGNORECASE,
)
_CAN_BE_ELSEWHERE = ("program-crash", "training-anomaly")


def kind_of(probabilities: dict[str, float]) -> str | None:
    """The likeliest kind, or None where that is not likely enough."""
    best = max(KINDS, key=probabilities.__getitem__)
    return best if probabilities[best] >= SURE else None


def probabilities(
    reading: Reading, match: Match | None, curve: Curve | None = None, foreign: bool = False
) -> dict[str, float]:
    """How likely each kind is; they sum to 1. `curve` is what a log shows; `foreign` is a text about something else."""
    by_words = model.kinds(reading.excerpt)
    if foreign or (match is None and curve is not None and curve.diagnosis is None):
        by_words = {one: _FOREIGN_WEIGHT * by_words[one] + (1 - _FOREIGN_WEIGHT) / len(KINDS) for one in KINDS}
    kind, weight = _by_error(reading, match, curve)
    return {one: weight * (one == kind) + (1 - weight) * by_words[one] for one in KINDS}


def _by_error(reading: Reading, match: Match | None, curve: Curve | None) -> tuple[str | None, float]:
    if match is not None:
        kind = match.signature.kind
        weight = _SYMPTOM_WEIGHT if match.signature.symptom else _WEIGHTS[match.strength]
    elif reading.has_traceback and reading.statements:
        kind, weight = "program-crash", _TRACEBACK_WEIGHT
    elif curve is not None and curve.diagnosis is not None:
        kind, weight = "training-anomaly", _SYMPTOM_WEIGHT
    else:
        return None, 0.0
    if kind in _CAN_BE_ELSEWHERE and _ELSEWHERE.search(reading.excerpt):
        return "model-migration", min(weight, _ELSEWHERE_WEIGHT)
    return kind, weight
