"""Keras: binary cross-entropy on a softmax over several classes."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import heads, keras, tell
from sleuth.source.sites import Site
from sleuth.source.values import made_by

CALLS = ("module.compile",)
# With two classes the binary loss of a softmax is the cross-entropy itself: only the accuracy may be another.
_SAME_AS_CATEGORICAL = 2


def call(site: Site) -> Finding | None:
    compiled = keras.compiled(site)
    softmax = None if compiled is None else made_by(compiled.output, "softmax")
    if compiled is None or softmax is None or compiled.loss != "binary_crossentropy" or compiled.from_logits:
        return None
    classes = heads.width(softmax)
    if classes == 1:
        return None
    file = site.spot.file
    edits = compiled.written(compiled.loss_value, "categorical_crossentropy")
    hint = classes is None or classes <= _SAME_AS_CATEGORICAL
    return tell.found(
        "binary-crossentropy-with-softmax",
        site,
        certainty="hint" if hint else "likely",
        severity="note" if hint else "warning",
        chain=[
            tell.because(softmax, f"softmax over {classes or 'several'} classes: exactly one of them is right"),
            tell.because(site.node, "the loss asks of each class by itself whether it is there", file),
        ],
        fixes=[Fix("use categorical_crossentropy, or sigmoid units if several classes may be right at once", edits)],
    )
