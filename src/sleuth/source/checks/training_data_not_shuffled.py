"""A training loop over a data set with an order of its own, through a loader that does not shuffle."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sleuth.findings import Finding
from sleuth.source import loading, tell
from sleuth.source.scopes import ClassInfo
from sleuth.source.sites import Trace
from sleuth.source.values import Value, ancestors

# A part of a data set, picked by indices we cannot see.
_MAY_BE_MIXED = ("torch.utils.data.Subset", "torch.utils.data.ConcatDataset")
_MIXES = re.compile(r"rand|shuffle|permut|[Gg]enerator|sample")
_RANDOM = ("randn", "rand", "randint", "api:torch.utils.data.random_split", "call:permutation", "call:shuffle")


def trace(trace: Trace) -> Iterator[Finding]:
    for loop, loader in loading.learnt_from(trace):
        data = loader.option("dataset", "0")
        if data is None or not loading.keeps_order(loader) or loading.is_sorted(data):
            continue
        if data.kind == "tensor" or data.api in _MAY_BE_MIXED or len(loop.loops) < 2 or _is_random_already(data):
            continue
        yield tell.found(
            "training-data-not-shuffled",
            loop.site,
            node=loader.node,
            file=loader.unit,
            certainty="hint",
            severity="note",
            chain=[
                tell.because(loader, "the loader deals the samples in the data set's order, each time"),
                tell.because(loop.node, "this loop learns from it in every epoch", loop.site.spot.file),
            ],
            fixes=loading.shuffle_fix(loader),
        )


def _is_random_already(data: Value) -> bool:
    """Data made of random numbers before our eyes have no order to begin with; a class may also mix them itself."""
    if isinstance(data.info, ClassInfo) and _MIXES.search(data.info.file.source(data.info.node)):
        return True
    held = (*data.inputs, *data.attrs.values())
    return any(one.op in _RANDOM or "random" in one.api for value in held for one in ancestors(value, most=60))
