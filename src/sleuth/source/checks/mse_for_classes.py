"""Classes fitted with a squared error: a softmax behind it, or class numbers as the target of one output."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import heads, keras, labels, losses, tell
from sleuth.source.sites import Site
from sleuth.source.values import made_by

OPERATIONS = ("mse", "l1", "smooth_l1")
CALLS = ("module.compile",)


def operation(site: Site) -> Finding | None:
    answer, target = losses.prediction(site), losses.target(site)
    if answer is None or target is None or labels.encoding(target) != "numbers":
        return None
    if answer.op == "squeeze" and answer.inputs:
        answer = answer.inputs[0]
    if answer.op != "linear" or heads.width(answer) != 1:
        return None
    return tell.found(
        "mse-for-classes",
        site,
        certainty="hint",
        severity="note",
        chain=[
            tell.because(target, "the targets are class numbers"),
            tell.because(site.node, "the loss treats them as quantities: class 2 is twice class 1", site.spot.file),
        ],
        fixes=[Fix("give the network one output a class and use cross-entropy; predict with argmax")],
    )


def call(site: Site) -> Finding | None:
    compiled = keras.compiled(site)
    softmax = None if compiled is None else made_by(compiled.output, "softmax")
    if compiled is None or softmax is None or compiled.loss not in keras.DISTANCES or heads.width(softmax) == 1:
        return None
    accuracy = compiled.measures_accuracy()
    return tell.found(
        "mse-for-classes",
        site,
        title=f"{compiled.loss} behind a softmax over classes",
        certainty="likely" if accuracy is not None else "hint",
        severity="warning" if accuracy is not None else "note",
        chain=[
            tell.because(softmax, "the network ends in a softmax: it tells classes apart"),
            tell.because(site.node, "a distance of probabilities hardly corrects confident mistakes", site.spot.file),
        ],
        fixes=[Fix("use categorical_crossentropy (or sparse_categorical_crossentropy for class numbers)")],
    )
