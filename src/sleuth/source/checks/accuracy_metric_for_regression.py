"""A Keras regression whose `metrics` ask for accuracy."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix, Link
from sleuth.source import heads, keras, labels, losses, tell
from sleuth.source.sites import Site, Trace
from sleuth.source.values import made_by

CALLS = ("module.compile",)


def call(site: Site) -> Finding | None:
    compiled = keras.compiled(site)
    # With targets of 0 and 1 rounding makes sense, even with a squared error: without the targets it is a hint.
    return None if compiled is None else _told(compiled, sure=False)


def trace(trace: Trace) -> Iterator[Finding]:
    for compiled, fit in keras.fitted(trace):
        target = keras.target(fit.site)
        if target is not None and (labels.is_price(target) or losses.is_quantity(target)):
            found = _told(compiled, sure=True)
            if found is not None:
                yield found


def _told(compiled: keras.Compiled, sure: bool) -> Finding | None:
    accuracy = compiled.measures_accuracy()
    last = made_by(compiled.output, "linear")
    if compiled.loss not in keras.DISTANCES or accuracy is None or last is None:
        return None
    site = compiled.site
    edits = compiled.written(accuracy, "mae")
    return tell.found(
        "accuracy-metric-for-regression",
        site,
        node=accuracy.node if edits else site.node,
        certainty="likely" if sure else "hint",
        severity="warning" if sure else "note",
        chain=[
            tell.because(heads.layer_of(compiled.output) or last, "the last layer is linear: it predicts a quantity"),
            tell.because(site.node, f"the loss is {compiled.loss}: a regression", site.spot.file),
            Link("accuracy counts predictions that equal the target exactly"),
        ],
        fixes=[Fix("measure the mean absolute error instead", edits)],
    )
