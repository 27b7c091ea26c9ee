"""A softmax, a running sum or a reduction over another axis."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import argument
from sleuth.compare.causes._attention import ATTENTION, with_softmax_over
from sleuth.compare.causes._calls import subject, with_
from sleuth.compare.reference import Call

_SOFTMAX = {"softmax", "_softmax", "special_softmax"}
_LOG_SOFTMAX = {"log_softmax", "_log_softmax", "special_log_softmax"}
_ALONG = {"cumsum", "cumprod", "logcumsumexp", "glu", "cummax", "sort", "argsort"}
_OVER = {"mean", "sum", "amax", "amin", "max", "min", "std", "var", "prod", "logsumexp", "linalg_vector_norm"}
OPS = frozenset(_SOFTMAX | _LOG_SOFTMAX | _ALONG | _OVER | ATTENTION | {"argmax", "argmin"})


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    tensor = subject(call)
    if call.op in ATTENTION:
        yield from _in_attention(call)
    elif tensor is not None and tensor.ndim:
        yield from _other_axes(call, tensor)


def _in_attention(call: Call) -> Iterable[Proposal]:
    for axis, word in ((-2, "queries"), (-3, "heads")):
        if call.arguments["query"].ndim + axis > 0:
            yield Proposal(
                f"the softmax of its attention is over the {word}, not over the keys",
                "take the softmax over the last axis of the scores",
                with_softmax_over(axis),
            )


def _other_axes(call: Call, tensor: Tensor) -> Iterable[Proposal]:
    dim = argument(call, "dim")
    wants_list = isinstance(dim, list | tuple)
    axes = [axis % tensor.ndim for axis in (dim if wants_list else [dim])] if dim not in (None, []) else []
    if len(axes) != 1:
        return
    word = call.op.strip("_").removeprefix("special_")
    for axis in range(tensor.ndim):
        if axis != axes[0] and tensor.shape[axis] > 1:
            yield Proposal(
                f"its {word} is over axis {axis}, not axis {axes[0]} (of {tensor.ndim}, counted from 0)",
                f"take {word} over the axis that the reference takes, {axes[0]} of {tensor.ndim}",
                with_(dim=[axis] if wants_list else axis),
            )
