"""A loss whose prediction and target have different shapes."""

from __future__ import annotations

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _messages, _use, _words
from sleuth.dry.crashes._told import told
from sleuth.dry.crashes.shape_mismatch import stories
from sleuth.findings import Finding, Fix

REFINES = ("batch_size_baked_in", "shape_mismatch", "wrong_number_of_dimensions")
_ONLY_OF_LOSSES = ("multi-target not supported", "Expected target size", "0D or 1D target tensor expected")


def explain(crash: Crash) -> Finding | None:
    call = crash.call
    if call is None or not ("loss" in call.operation or "entropy" in call.operation) or len(call.births) < 2:
        return None
    if not (_messages.is_about_shapes(crash.message) or any(words in crash.message for words in _ONLY_OF_LOSSES)):
        return None
    prediction, target = call.births[:2]
    if prediction.shape == target.shape:  # then it is the weights that do not fit
        return None
    shapes = f"{_words.shape(prediction.shape)} and the target {_words.shape(target.shape)}"
    return told(
        "target-size-mismatch",
        crash,
        title=f"{_words.operation(call.operation)}: the prediction is {shapes}",
        chain=stories([prediction, target]),
        fixes=[_fix(crash, prediction, target)],
    )


def _fix(crash: Crash, prediction: Birth, target: Birth) -> Fix | None:
    """Where one has an axis of size 1 more than the other, that is the one to remove or add."""
    takes_classes = "entropy" in _operation(crash) and "binary" not in _operation(crash)
    if takes_classes and target.shape[1:] == (1,):
        return _use.followed_by(crash, target, ".squeeze(1)", "target")
    if (*target.shape, 1) == prediction.shape:
        return _use.followed_by(crash, target, ".unsqueeze(-1)", "target")
    if (*prediction.shape, 1) == target.shape:
        return _use.followed_by(crash, target, ".squeeze(-1)", "target")
    return None


def _operation(crash: Crash) -> str:
    return crash.call.operation if crash.call is not None else ""
