"""A normalisation whose arrays are in another order, or whose variance is a deviation: all have the same shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import NORMS, argument
from sleuth.compare.reference import Call, Override

OPS = NORMS
_ORDER = (
    "look up in which order the layer takes its arrays: Keras gives gamma, beta, mean, variance; Caffe mean, variance"
)


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    weight, bias = argument(call, "weight"), argument(call, "bias")
    if weight is not None and bias is not None and not torch.equal(weight, bias):
        yield Proposal("its scale and its shift are swapped (gamma and beta)", _ORDER, _with(weight=bias, bias=weight))
    mean, variance = argument(call, "running_mean"), argument(call, "running_var")
    if mean is None or variance is None:
        return
    if not torch.equal(mean, variance):
        yield Proposal(
            "its running mean and variance are swapped", _ORDER, _with(running_mean=variance, running_var=mean)
        )
    if weight is not None and bias is not None:
        yield Proposal(
            "its arrays are in the order mean, variance, scale, shift",
            _ORDER,
            _with(weight=mean, bias=variance, running_mean=weight, running_var=bias),
        )
    for says, fix, change in _readings(argument(call, "eps")):
        if not torch.equal(change(variance), variance):
            yield Proposal(says, fix, _with(running_var=change(variance)))


def _readings(eps: float) -> list[tuple[str, str, Callable[[Tensor], Tensor]]]:
    return [
        ("its variance is the standard deviation", "square it: the layer takes the variance", torch.sqrt),
        ("it divides by the variance, not by its root", "take the root of the variance", torch.square),
        ("its variance is the inverse of it", "give the layer the variance itself", torch.reciprocal),
        (
            "its variance is the inverse of the deviation",
            "give the layer the variance itself",
            lambda v: (v + eps).rsqrt(),
        ),
    ]


def _with(**arrays: Tensor) -> Override:
    return lambda call: call.again(**{name: array.to(call.arguments["input"].dtype) for name, array in arrays.items()})
