"""A Keras regression whose `metrics` ask for accuracy."""

from __future__ import annotations

from sleuth.findings import Finding, Fix, Link
from sleuth.source import heads, keras, tell
from sleuth.source.sites import Site
from sleuth.source.values import made_by

CALLS = ("module.compile",)


def call(site: Site) -> Finding | None:
    compiled = keras.compiled(site)
    if compiled is None or compiled.loss not in keras.DISTANCES:
        return None
    accuracy = compiled.measures_accuracy()
    last = made_by(compiled.output, "linear")
    if accuracy is None or last is None or accuracy.node is None:
        return None
    file = site.spot.file
    edits = compiled.written(accuracy, "mae")
    return tell.found(
        "accuracy-metric-for-regression",
        site,
        node=accuracy.node if edits else site.node,
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(heads.layer_of(compiled.output) or last, "the last layer is linear: it predicts a quantity"),
            tell.because(site.node, f"the loss is {compiled.loss}: a regression", file),
            Link("accuracy counts predictions that equal the target exactly"),
        ],
        fixes=[Fix("measure the mean absolute error instead", edits)],
    )
