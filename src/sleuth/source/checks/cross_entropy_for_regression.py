"""A cross-entropy over classes, used where one number is predicted."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import heads, keras, losses, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by

OPERATIONS = ("cross_entropy", "softmax_cross_entropy_with_logits")
CALLS = ("module.compile",)


def operation(site: Site) -> Finding | None:
    answer, target = losses.prediction(site), losses.target(site)
    if answer is None or target is None:
        return None
    if site.name.startswith("torch."):
        if losses.is_quantity(target):
            return _told(site, answer, target)
        if not losses.is_continuous(target):
            return None
    if answer.op == "squeeze" and answer.inputs:
        answer = answer.inputs[0]
    # Early versions of TensorFlow took the scores first.
    both = (answer, target) if losses.labels_first(site) and not site.keywords else (answer,)
    one = next((value for value in both if heads.width(value) == 1), None)
    return None if one is None else _told(site, one)


def call(site: Site) -> Finding | None:
    compiled = keras.compiled(site)
    if compiled is None or not compiled.over_classes or heads.width(compiled.output) != 1:
        return None
    return None if made_by(compiled.output, "softmax", "sigmoid") is not None else _told(site, compiled.output)


def _told(site: Site, answer: Value, target: Value | None = None) -> Finding:
    last = heads.layer_of(answer) or answer
    if heads.width(answer) == 1:
        title = "cross-entropy over classes with a single output"
        first = tell.because(last, "the network gives one number for each sample")
        then = "the loss takes it for the score of the only class: it is constant"
    else:
        title = None
        first = tell.because(target or answer, "the targets are quantities, of any sign")
        then = "the loss takes them for probabilities of classes"
    return tell.found(
        "cross-entropy-for-regression",
        site,
        title=title,
        chain=[first, tell.because(site.node, then, site.spot.file)],
        fixes=[Fix("for a quantity use the mean squared error; for two classes binary cross-entropy on one output")],
    )
