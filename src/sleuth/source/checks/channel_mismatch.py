"""A convolution or batch normalisation made for another number of channels than it is given."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding
from sleuth.source import fits, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value

OPERATIONS = ("conv", "batch_norm")
CALLS = ("torch.nn.Sequential",)


def operation(site: Site) -> Finding | None:
    if site.receiver is None or not site.args or fits.was_looked_at(site.spot):
        return None
    misfit = fits.channels(site.receiver, site.args[0])
    return None if misfit is None else _told(site, misfit, site.args[0])


def call(site: Site) -> Iterator[Finding]:
    """Layers in a row that nobody has called yet. In a class they are judged where `forward` calls them."""
    function, network = site.spot.function, site.result
    if (function is not None and function.cls is not None) or not network.exact or not network.parts:
        return
    for layer, value in fits.through(network.parts):
        misfit = fits.channels(layer, value)
        if misfit is not None and layer.unit is not None:
            yield _told(site, misfit, value, layer)


def _told(site: Site, misfit: fits.Misfit, value: Value, layer: Value | None = None) -> Finding:
    return tell.found(
        "channel-mismatch",
        site,
        node=None if layer is None else layer.node,
        file=None if layer is None else layer.unit,
        title=f"{misfit.name} expects {misfit.expected} channels and is given {misfit.given}",
        chain=[
            *([tell.because(value, f"this gives {misfit.given} channels")] if value.node is not None else []),
            tell.because(misfit.layer, f"this {misfit.name} is made for {misfit.expected}"),
        ],
        fixes=[misfit.fix()],
    )
