"""A Linear behind a flatten, view or reshape that gives another number of features."""

from __future__ import annotations

from math import isqrt, prod

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _making, _words
from sleuth.dry.crashes._misfit import Misfit, misfit
from sleuth.dry.crashes._told import told
from sleuth.findings import Evidence, Finding, Fix

REFINES = ("linear_size_mismatch",)
_FLATTENING = {"flatten", "view", "reshape", "view_as"}


def explain(crash: Crash) -> Finding | None:
    found = misfit(crash)
    if found is None or found.kind != "Linear":
        return None
    flattened = _before_flattening(found.giver)
    if flattened is None:
        return None
    sizes = flattened.shape[1:]
    is_a_product = prod(sizes) == found.given and len(sizes) > 1
    given = f"{_words.product(sizes)} = {found.given}" if is_a_product else str(found.given)
    flatten = _words.operation(found.giver.operation)
    return told(
        "flatten-linear-mismatch",
        crash,
        title=f"{found.layer} expects {found.expected} features, {flatten} gives {given}",
        evidence=_meant(found, flattened),
        chain=found.chain,
        fixes=[_fix(found, sizes if is_a_product else ())],
    )


def _fix(found: Misfit, sizes: tuple[int, ...]) -> Fix:
    product = " * ".join(str(size) for size in sizes)
    return _making.with_argument(found.made, 0, "in_features", found.given, found.fix.title, product)


def _before_flattening(giver: Birth) -> Birth | None:
    parent = next(iter(list(_history.trunk(giver))[1:]), None)
    return parent if giver.operation in _FLATTENING and parent is not None else None


def _meant(found: Misfit, flattened: Birth) -> list[Evidence]:
    """The picture the layer was made for, where the number of channels tells it."""
    if len(flattened.shape) != 4:
        return []
    channels = flattened.shape[1]
    side = isqrt(found.expected // channels)
    if not side or channels * side * side != found.expected:
        return []
    before = _words.product(flattened.shape[1:])
    return [Evidence("made for", f"{channels} × {side} × {side} = {found.expected}"), Evidence("given", before)]
