"""Losses, which exported training graphs end in."""

from __future__ import annotations

import torch

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.operations import Step, operation

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


@operation("SoftmaxCrossEntropyLoss")
def _cross_entropy(b: Builder, s: Step) -> list[Traced]:
    score, labels, weight = s.inputs[0], _whole(b, s.inputs[1]), s.input(2)
    how = _REDUCTIONS[s.get("reduction", "mean")]
    results = [b.call(aten.cross_entropy_loss.default, score, labels, weight, how, s.get("ignore_index", -100))]
    return [*results, b.call(aten.log_softmax.int, score, 1)] if s.wants(1) else results


@operation("NegativeLogLikelihoodLoss")
def _negative_log_likelihood(b: Builder, s: Step) -> Traced:
    score, labels, weight = s.inputs[0], _whole(b, s.inputs[1]), s.input(2)
    how = _REDUCTIONS[s.get("reduction", "mean")]
    return b.call(aten.nll_loss_nd.default, score, labels, weight, how, s.get("ignore_index", -100))


def _whole(b: Builder, labels: Traced) -> Traced:
    return labels if labels.dtype == torch.int64 else b.call(aten.to.dtype, labels, torch.int64)
