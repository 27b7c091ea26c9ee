"""Binary cross-entropy of scores instead of probabilities."""

from __future__ import annotations

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _messages, _values, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix


def explain(crash: Crash) -> Finding | None:
    if "all elements of input should be between 0 and 1" not in _messages.said(crash.error):
        return None
    span = _values.span(crash, 0)
    if crash.call is None or not crash.call.births or span is None or span.has_nan:
        return None
    scores = crash.call.births[0]
    return told(
        "logits-into-bce-loss",
        crash,
        title=f"binary cross-entropy wants probabilities, {_words.maker(scores)} gives {span}",
        evidence=span.evidence("score"),
        chain=_history.of_shapes(scores),
        fixes=[Fix("leave the scores as they are and take binary_cross_entropy_with_logits (BCEWithLogitsLoss)")],
    )
