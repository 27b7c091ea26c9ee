"""A momentum below 0, or of 1 and more: nothing brakes any more."""

from __future__ import annotations

from sleuth.findings import Evidence, Finding, Fix
from sleuth.source import hyperparameters, tell
from sleuth.source.sites import Site

CALLS = tuple(hyperparameters.OPTIMIZERS)


def call(site: Site) -> Finding | None:
    momentum = hyperparameters.number(site.result, "momentum")
    if momentum is None or 0 <= momentum < 1:
        return None
    what = "below 0" if momentum < 0 else "not below 1: old gradients never fade"
    return tell.found(
        "momentum-out-of-range",
        site,
        title=f"the momentum {momentum:g} is {what}",
        certainty="certain",
        severity="error",
        evidence=[Evidence("momentum", momentum)],
        fixes=[Fix("give a momentum from 0 to below 1, usually 0.9")],
    )
