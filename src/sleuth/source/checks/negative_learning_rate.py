"""A learning rate below 0."""

from __future__ import annotations

from sleuth.findings import Evidence, Finding, Fix
from sleuth.source import hyperparameters, tell
from sleuth.source.sites import Site

CALLS = tuple(hyperparameters.OPTIMIZERS)


def call(site: Site) -> Finding | None:
    rate = hyperparameters.number(site.result, "rate")
    if rate is None or rate >= 0:
        return None
    refused = site.name.startswith("torch.")
    return tell.found(
        "negative-learning-rate",
        site,
        title=f"the learning rate {rate:g} is below 0",
        certainty="certain" if refused else "likely",
        severity="error" if refused else "warning",
        evidence=[Evidence("learning rate", rate)],
        fixes=[Fix("give a rate above 0; to climb instead of descend, negate the loss or pass maximize=True")],
    )
