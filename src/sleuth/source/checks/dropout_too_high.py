"""A dropout that removes everything, or nearly: a probability of 1 and more, or the part to keep given in its place."""

from __future__ import annotations

from sleuth.findings import Evidence, Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site
from sleuth.source.values import Value

_LAYERS = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
_FUNCTIONS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout")
_KERAS = ("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D")
CALLS = (
    *(f"torch.nn.{name}" for name in _LAYERS),
    *(f"torch.nn.functional.{name}" for name in _FUNCTIONS),
    *(f"keras.layers.{name}" for name in _KERAS),
)
# Nothing published drops more of a hidden layer; from here on "keep 0.8" was probably meant.
_SUSPECT = 0.8


def call(site: Site) -> Finding | None:
    given = _rate(site)
    rate = None if given is None else given.number()
    if rate is None or 0 <= rate < _SUSPECT:
        return None
    wrong = not 0 <= rate < 1
    keep = round(1 - rate, 6)
    what = (
        "is not a probability"
        if not 0 <= rate <= 1
        else "removes everything"
        if rate == 1
        else "removes nearly everything"
    )
    return tell.found(
        "dropout-too-high",
        site,
        title=f"a dropout of {rate:g} {what}",
        certainty="certain" if wrong else "hint",
        severity="error" if wrong else "note",
        evidence=[Evidence("dropout", rate)],
        fixes=[Fix("give the part to drop as a number from 0 to 0.5" if wrong else f"to keep {rate:g}, drop {keep:g}")],
    )


def _rate(site: Site) -> Value | None:
    """The argument itself; a layer's call also carries its construction's options."""
    position = 1 if site.name.startswith("torch.nn.functional.") else 0
    if "p" in site.keywords or "rate" in site.keywords:
        return site.keywords.get("p") or site.keywords.get("rate")
    return site.args[position] if len(site.args) > position else None
