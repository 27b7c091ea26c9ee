"""A loss that was given the labels where the prediction belongs, and the prediction where the labels belong."""

from __future__ import annotations

import ast

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import losses, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, ancestors, origins

OPERATIONS = (
    "cross_entropy",
    "nll_loss",
    "bce",
    "bce_with_logits",
    "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits",
)
CALLS = (
    "keras.losses.BinaryCrossentropy()",
    "keras.losses.CategoricalCrossentropy()",
    "keras.losses.SparseCategoricalCrossentropy()",
    "keras.losses.binary_crossentropy",
    "keras.losses.categorical_crossentropy",
    "keras.losses.sparse_categorical_crossentropy",
)
_LABELS = ("batch", "randint", "argmax", "one_hot", "long")


def operation(site: Site) -> Finding | None:
    answer, truth = losses.prediction(site), losses.target(site)
    if answer is None or truth is None or site.star or site.keywords or len(site.args) < 2:
        return None
    if not _computed(truth) or not _given(answer):
        return None
    first, second = site.node.args[:2]
    file = site.spot.file
    order = "the target first, then the prediction" if losses.labels_first(site) else "the prediction first"
    return tell.found(
        "loss-arguments-swapped",
        site,
        chain=[
            tell.because(truth, "this comes from the network"),
            tell.because(site.node, f"the loss takes {order}", file),
        ],
        fixes=[Fix("swap the two arguments", _swapped(site, first, second))],
    )


call = operation


def _computed(value: Value) -> bool:
    """Is it the output of a network, surely?"""
    return value.kind == "tensor" and any(one.op in ("module", "linear", "conv") for one in ancestors(value))


def _given(value: Value) -> bool:
    """Is it something a loader dealt, or labels made by hand, untouched by a network?"""
    for one in origins(value):
        if one.op not in _LABELS:
            return False
        if any(earlier.op in ("module", "linear", "conv") for earlier in ancestors(one)):
            return False
    return True


def _swapped(site: Site, first: ast.expr, second: ast.expr) -> tuple[Edit, Edit]:
    file = site.spot.file
    return (
        tell.replace(file, first, file.source(second)),
        tell.replace(file, second, file.source(first)),
    )
