"""Adam's averaging factors outside [0, 1), or a rate given in their place."""

from __future__ import annotations

from sleuth.findings import Evidence, Finding, Fix
from sleuth.source import hyperparameters, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value

CALLS = tuple(name for name, where in hyperparameters.OPTIMIZERS.items() if "betas" in where or "beta1" in where)


def call(site: Site) -> Finding | None:
    bad = next(((index, beta) for index, beta in _betas(site.result) if not 0 <= beta < 1), None)
    if bad is None:
        return None
    index, beta = bad
    refused = site.name.startswith("torch.")
    return tell.found(
        "betas-out-of-range",
        site,
        title=f"beta {index} of the optimiser is {beta:g}, outside of 0 to below 1",
        certainty="certain" if refused else "likely",
        severity="error" if refused else "warning",
        evidence=[Evidence(f"beta {index}", beta)],
        fixes=[Fix("the usual betas are 0.9 and 0.999")],
    )


def _betas(optimizer: Value) -> list[tuple[int, float]]:
    pair = hyperparameters.given(optimizer, "betas")
    found: list[Value | None] = [hyperparameters.given(optimizer, name) for name in ("beta1", "beta2")]
    if pair is not None and pair.parts is not None and pair.exact:
        found = [*pair.parts]
    numbers = [(index, None if one is None else one.number()) for index, one in enumerate(found[:2], 1)]
    return [(index, number) for index, number in numbers if number is not None]
