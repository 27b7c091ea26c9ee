"""A cross-entropy over padded sequences that counts the padding as words."""

from __future__ import annotations

import re

from sleuth.findings import Finding, Fix
from sleuth.source import losses, tell
from sleuth.source.sites import Site

OPERATIONS = ("cross_entropy", "nll_loss")
_FLAT = ("view", "reshape", "flatten")
_CLASSES_MOVED = ("transpose", "permute")
# Signs of padding in the file, and of something that takes it out again.
_PADS = re.compile(r"padding_idx|pad_idx|pad_id\b|PAD_IDX|PAD_TOKEN|pad_token|pad_index|pad_sequence")
_TAKES_OUT = re.compile(r"-100|ignore_index|pack_padded|masked_select|loss_mask|\* ?mask|PreTrainedModel|transformers")


def operation(site: Site) -> Finding | None:
    if not site.name.startswith("torch.") or site.given("ignore_index") or site.given("weight"):
        return None
    answer, target = losses.prediction(site), losses.target(site)
    reduction = site.option("reduction", "reduce")
    if answer is None or target is None or reduction is not None:
        return None
    flat = answer.op in _FLAT and target.op in _FLAT
    # (N, T, C) with the classes moved to the middle; a matrix is turned without saying which dimensions.
    moved = answer.op in _CLASSES_MOVED and len(answer.inputs) > 2 and target.kind == "tensor"
    text = site.spot.file.text
    pads = _PADS.search(text) if flat or moved else None
    if pads is None or _TAKES_OUT.search(text):
        return None
    return tell.found(
        "padding-not-ignored",
        site,
        certainty="hint",
        severity="note",
        chain=[
            tell.because(site.node, "the loss counts every position of every sequence", site.spot.file),
        ],
        fixes=[Fix("give the loss the number of the padding: ignore_index=pad_idx")],
    )
