"""Class numbers for a loss that takes one-hot rows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import keras, labels, losses, tell
from sleuth.source.sites import Site, Trace
from sleuth.source.values import Value

OPERATIONS = ("softmax_cross_entropy_with_logits",)
CALLS = ("keras.losses.CategoricalCrossentropy()", "keras.losses.categorical_crossentropy")


def operation(site: Site) -> Finding | None:
    target = losses.target(site)
    return None if target is None or labels.encoding(target) != "numbers" else _told(site, target, site.node, ())


call = operation


def trace(trace: Trace) -> Iterator[Finding]:
    for compiled, fit in keras.fitted(trace):
        target = keras.target(fit.site)
        loss = compiled.loss_value
        if target is None or loss is None or compiled.loss != "categorical_crossentropy":
            continue
        if labels.encoding(target) == "numbers":
            yield _told(fit.site, target, compiled.site.node, compiled.written(loss, "sparse_categorical_crossentropy"))


def _told(site: Site, target: Value, loss: ast.AST, edits: tuple[Edit, ...]) -> Finding:
    return tell.found(
        "index-into-categorical-loss",
        site,
        chain=[
            tell.because(target, "the labels are class numbers, one for each sample"),
            tell.because(loss, "the loss takes a row of probabilities a sample", site.spot.file),
        ],
        fixes=[Fix("use the sparse loss, or make the labels one-hot with to_categorical", edits)],
    )
