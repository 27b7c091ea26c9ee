"""Keras models built and trained in a loop, in a file that never clears what they leave behind."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import keras, tell
from sleuth.source.sites import Trace


def trace(trace: Trace) -> Iterator[Finding]:
    if "clear_session" in trace.file.text:
        return
    for step in trace.of("fit"):
        model = step.receiver
        if model is None or not model.loop or not keras.is_model(model):
            continue
        loop = next((one for one in step.loops if id(one) == model.loop and isinstance(one, ast.For | ast.While)), None)
        if loop is None or model.unit is None:
            continue
        yield tell.found(
            "model-built-in-loop",
            step.site,
            node=model.node,
            file=model.unit,
            certainty="hint",
            severity="note",
            chain=[
                tell.because(model, "each round builds a network"),
                tell.because(step.node, "and trains it; Keras keeps the state of all of them", step.site.spot.file),
            ],
            fixes=[Fix("call keras.backend.clear_session() at the start of each round")],
        )
