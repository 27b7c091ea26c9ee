"""Preprocessing fitted on all data before they are split into training and test data."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import preprocessing, tell
from sleuth.source.sites import Site

CALLS = ("sklearn.model_selection.train_test_split",)


def call(site: Site) -> Finding | None:
    # Of train_test_split(X, y) only X: the labels have no statistics that could leak.
    features = site.args[0] if site.args else None
    fitted = None if features is None else preprocessing.fitted_on_itself(features)
    if fitted is None:
        return None
    name = fitted.inputs[0].api.rpartition(".")[2]
    return tell.found(
        "statistics-before-split",
        site,
        node=fitted.node,
        file=fitted.unit or site.spot.file,
        title=f"{name} is fitted on all data, then they are split",
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(fitted.node or site.node, f"{name} takes its numbers from all samples", site.spot.file),
            tell.because(site.node, "some of them become the test data only here", site.spot.file),
        ],
        fixes=[Fix("split first; fit on the training part, transform both; or put the steps into a Pipeline")],
    )
