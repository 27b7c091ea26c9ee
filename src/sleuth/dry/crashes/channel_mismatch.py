"""A convolution or normalisation that is given another number of channels."""

from __future__ import annotations

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _words
from sleuth.dry.crashes._misfit import Misfit, misfit
from sleuth.dry.crashes._told import told
from sleuth.findings import Evidence, Finding, Fix

REFINES = ("shape_mismatch",)


def explain(crash: Crash) -> Finding | None:
    found = misfit(crash)
    if found is None or found.noun != "channels":
        return None
    last = _channels_last(found)
    return told(
        "channel-mismatch",
        crash,
        title=f"{found.layer} expects {found.expected} channels, {_words.maker(found.giver)} gives {found.given}",
        evidence=[Evidence("channels", "they stand last in the input")] if last else [],
        chain=found.chain,
        fixes=[Fix("move the channels behind the batch: `.permute(0, 3, 1, 2)`") if last else found.fix],
    )


def _channels_last(found: Misfit) -> bool:
    """Is it a batch of pictures as files and NumPy hold them?"""
    shape = found.input.shape
    return len(shape) == 4 and shape[-1] == found.expected and found.giver.shape == shape
