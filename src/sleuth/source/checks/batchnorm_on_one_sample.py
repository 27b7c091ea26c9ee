"""BatchNorm1d after a linear layer, trained with batches of one sample."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import loading, tell
from sleuth.source.sites import Trace
from sleuth.source.values import Value, ancestors, made_by

_SAME_SHAPE = frozenset({"relu", "dropout", "tanh"})


def trace(trace: Trace) -> Iterator[Finding]:
    for loop, loader in loading.learnt_from(trace):
        if not _deals_single_samples(loader):
            continue
        for forward in trace.within(loop.node):
            layer = (
                _crashes(forward.site.result) if forward.act == "forward" and forward.loops[-1] is loop.node else None
            )
            if layer is None:
                continue
            yield tell.found(
                "batchnorm-on-one-sample",
                forward.site,
                chain=[
                    tell.because(loader, "each batch has one sample"),
                    tell.because(layer, "of one sample BatchNorm1d sees one value per channel, and refuses"),
                ],
                fixes=[Fix("use larger batches, or LayerNorm, which needs no other samples")],
            )
            break


def _deals_single_samples(loader: Value) -> bool:
    size = loader.option("batch_size", "1")
    given = loader.option("batch_sampler", "4", "sampler", "3", "collate_fn", "6")
    return given is None and (size is None or size.number() == 1) and loader.api == "torch.utils.data.DataLoader"


def _crashes(output: Value) -> Value | None:
    """A BatchNorm1d on the way to the output whose input surely comes from a linear layer."""
    for one in ancestors(output, most=200):
        is_one = one.op == "batch_norm" and len(one.inputs) > 1 and one.inputs[-1].api == "torch.nn.BatchNorm1d"
        if is_one and made_by(one.inputs[0], "linear", through=_SAME_SHAPE) is not None:
            return one.inputs[-1]
    return None
