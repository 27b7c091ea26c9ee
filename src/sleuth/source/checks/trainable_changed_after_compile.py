"""`trainable` of a Keras network or its layers changed between two `fit`, without `compile`."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import keras, tell
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value, ancestors


def trace(trace: Trace) -> Iterator[Finding]:
    seen: dict[int, keras.Compiled] = {}
    fitted: set[int] = set()
    changed: dict[int, Step] = {}
    for step in trace.of("compile", "fit", "trainable"):
        model = step.receiver
        if model is None:
            continue
        if step.act == "compile":
            known = keras.compiled(step.site)
            fitted.discard(id(model))
            changed.pop(id(model), None)
            if known is not None:
                seen[id(model)] = known
        elif step.act == "trainable":
            changed.update({key: step for key, known in seen.items() if key in fitted and _part_of(model, known)})
        elif id(model) in changed:
            yield _told(changed.pop(id(model)), step, seen[id(model)])
        elif id(model) in seen:
            fitted.add(id(model))


def _part_of(touched: Value, known: keras.Compiled) -> bool:
    """Is what was touched the network, or in it: `model.layers[3]`, the base of a transfer?"""
    for _ in range(6):
        if touched.kind in ("module", "instance"):
            break
        if not touched.inputs:
            return False
        touched = touched.inputs[0]
    model = known.site.receiver
    parts = (model.parts or []) if model is not None else []
    return touched is model or touched in parts or any(one is touched for one in ancestors(known.output))


def _told(change: Step, fit: Step, known: keras.Compiled) -> Finding:
    return tell.found(
        "trainable-changed-after-compile",
        change.site,
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(known.site.node, "compile fixes which weights are trained", known.site.spot.file),
            tell.because(change.node, "this changes it afterwards", change.site.spot.file),
            tell.because(fit.node, "the next fit runs without another compile", fit.site.spot.file),
        ],
        fixes=[Fix("call compile again after changing trainable")],
    )
