"""A scaler, encoder or other preprocessing fitted on the test data."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import preprocessing, tell
from sleuth.source.sites import Site

CALLS = ("*.fit_transform", "*.fit")


def call(site: Site) -> Finding | None:
    if site.receiver is None or not preprocessing.is_transformer(site.receiver) or not site.args:
        return None
    if preprocessing.part_of(site.args[0], _argument(site)) != "test":
        return None
    name = site.receiver.api.rpartition(".")[2]
    file, func = site.spot.file, site.node.func
    mended = isinstance(func, ast.Attribute) and site.name.endswith("fit_transform")
    edits = (tell.replace(file, func, f"{file.source(func.value)}.transform"),) if mended else ()
    return tell.found(
        "fit-on-test-data",
        site,
        title=f"{name} is fitted on the test data",
        certainty="likely",
        severity="warning",
        chain=[tell.because(site.node, "its numbers now come from the test data, not from the training data", file)],
        fixes=[Fix("fit on the training data and only transform the test data", edits)],
    )


def _argument(site: Site) -> ast.expr | None:
    node = site.node
    return node.args[0] if isinstance(node, ast.Call) and node.args else None
