"""One-hot labels for a loss that takes class numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import keras, labels, losses, tell
from sleuth.source.sites import Site, Trace
from sleuth.source.values import Value

OPERATIONS = ("sparse_softmax_cross_entropy_with_logits",)
CALLS = ("keras.losses.SparseCategoricalCrossentropy()", "keras.losses.sparse_categorical_crossentropy")


def operation(site: Site) -> Finding | None:
    target = losses.target(site)
    return None if target is None or labels.encoding(target) != "one-hot" else _told(site, target, site.node, ())


call = operation


def trace(trace: Trace) -> Iterator[Finding]:
    for compiled, fit in keras.fitted(trace):
        target = keras.target(fit.site)
        loss = compiled.loss_value
        if target is None or loss is None or compiled.loss != "sparse_categorical_crossentropy":
            continue
        if labels.encoding(target) == "one-hot":
            yield _told(fit.site, target, compiled.site.node, compiled.written(loss, "categorical_crossentropy"))


def _told(site: Site, target: Value, loss: ast.AST, edits: tuple[Edit, ...]) -> Finding:
    return tell.found(
        "one-hot-into-sparse-loss",
        site,
        chain=[
            tell.because(target, "the labels are one-hot rows"),
            tell.because(loss, "the loss takes one class number a sample", site.spot.file),
        ],
        fixes=[Fix("leave the labels as class numbers, or use the loss without `sparse`", edits)],
    )
