"""A Linear behind a flatten or view that gives another number of features, by the arithmetic of the layers before."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from sleuth.findings import Finding, Fix
from sleuth.source import fits, shapes, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value

OPERATIONS = ("linear", "view", "reshape")
CALLS = ("torch.nn.Sequential",)


def operation(site: Site) -> Finding | None:
    if fits.was_looked_at(site.spot):
        return None
    if site.op != "linear":
        return _rows_cut(site) if site.name in ("tensor.view", "tensor.reshape", "torch.reshape") else None
    if site.receiver is None or not site.args:
        return None
    return _told(site, site.receiver, site.args[0], None)


def call(site: Site) -> Iterator[Finding]:
    """Layers in a row that nobody has called yet. In a class they are judged where `forward` calls them."""
    function, network = site.spot.function, site.result
    if (function is None or function.cls is None) and network.exact and network.parts:
        for layer, value in fits.through(network.parts):
            found = _told(site, layer, value, layer)
            if found is not None:
                yield found


def _told(site: Site, layer: Value, value: Value, place: Value | None) -> Finding | None:
    misfit = fits.features(layer, value)
    flat = fits.flattening(value)
    if misfit is None or flat is None or misfit.name != "Linear" or (place is not None and place.unit is None):
        return None
    before = flat.inputs[0].shape if flat.inputs else None
    shown = (
        " × ".join(str(size) for size in before[1:]) if before and len(before) > 2 and None not in before[1:] else ""
    )
    each = prod(size for size in (before or ())[1:] if size is not None)
    how = f"{shown} = {misfit.given}" if shown and each == misfit.given else str(misfit.given)
    return tell.found(
        "flatten-linear-mismatch",
        site,
        node=None if place is None else place.node,
        file=None if place is None else place.unit,
        title=f"Linear expects {misfit.expected} features, the {flat.op} before it gives {how}",
        chain=[
            *([tell.because(flat.inputs[0], f"here the shape is {shown} for each sample")] if shown else []),
            tell.because(flat, f"{flat.op} makes rows of {misfit.given} of it"),
            tell.because(misfit.layer, f"the layer is made for rows of {misfit.expected}"),
        ],
        fixes=[misfit.fix()],
    )


def _rows_cut(site: Site) -> Finding | None:
    """`view(-1, n)` with an n that is not what one sample has: rows then hold parts of two samples, or it crashes."""
    tensor = site.operands[0]
    asked = shapes.sizes_given(site.operands[1:])
    shape = tensor.shape
    if shape is None or len(shape) < 3 or None in shape[1:] or asked is None or len(asked) != 2 or site.star:
        return None
    read = shapes.dimension_read(asked[0])
    width, first = asked[1].const, asked[0].const
    if (
        not isinstance(width, int)
        or isinstance(width, bool)
        or width < 1
        or not (first == -1 or (read and read[1] == 0))
    ):
        return None
    each = prod(size for size in shape[1:] if size is not None)
    if each == width or (first == -1 and (each % width == 0 or width % each == 0)):
        return None
    shown = " × ".join(map(str, shape[1:]))
    return tell.found(
        "flatten-linear-mismatch",
        site,
        title=f"each sample has {shown} = {each} numbers, {site.op} asks for rows of {width}",
        chain=[tell.because(tensor, f"here the shape is {shown} for each sample")],
        fixes=[Fix(f"flatten(1), which gives rows of {each}; make the Linear behind it for {each}")],
    )
