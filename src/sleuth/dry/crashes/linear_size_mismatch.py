"""A Linear, normalisation, attention or recurrent layer that is given another number of features."""

from __future__ import annotations

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _words
from sleuth.dry.crashes._misfit import misfit
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding

REFINES = ("shape_mismatch",)


def explain(crash: Crash) -> Finding | None:
    found = misfit(crash)
    if found is None or found.noun != "features":
        return None
    return told(
        "linear-size-mismatch",
        crash,
        title=f"{found.layer} expects {found.expected} features, {_words.maker(found.giver)} gives {found.given}",
        chain=found.chain,
        fixes=[found.fix],
    )
