"""A batch normalisation still in training mode: it uses the mean and variance of this batch, not those it learnt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch.nn import functional

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import argument
from sleuth.compare.reference import Call

OPS = frozenset({"batch_norm", "instance_norm"})
_FIX = "switch the layer to inference: model.eval(), or training=False"


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    if argument(call, "running_mean") is None:
        return
    if call.op == "batch_norm" and not argument(call, "training"):
        yield Proposal("it normalises by the statistics of the batch, not by those it learnt", _FIX, _by_the_batch)
    if call.op == "instance_norm" and not argument(call, "use_input_stats"):
        yield Proposal("it normalises by the statistics of each sample, not by those it learnt", _FIX, _by_the_sample)


def _by_the_batch(call: Call) -> Any:
    """Without the running statistics, which a training layer would change."""
    return functional.batch_norm(
        call.arguments["input"],
        None,
        None,
        argument(call, "weight"),
        argument(call, "bias"),
        True,
        0.0,
        argument(call, "eps"),
    )


def _by_the_sample(call: Call) -> Any:
    return functional.instance_norm(
        call.arguments["input"],
        None,
        None,
        argument(call, "weight"),
        argument(call, "bias"),
        True,
        0.0,
        argument(call, "eps"),
    )
