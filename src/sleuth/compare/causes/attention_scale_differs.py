"""Attention scores scaled by something else: not at all, twice, or by the root of another size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import changed, followed_by
from sleuth.compare.causes._attention import ATTENTION, scale_of
from sleuth.compare.causes._calls import with_
from sleuth.compare.reference import Call

OPS = frozenset({*ATTENTION, "mul", "div", "matmul", "bmm", "softmax", "_softmax"})
_FIX = "scale the scores once, by 1 / sqrt(size of one head), as the reference does"


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    if call.op in ATTENTION:
        query = call.arguments["query"]
        heads = query.shape[-3] if query.ndim > 3 else 1
        yield from _scales(call, scale_of(call), query.shape[-1], heads)
    elif call.op in ("matmul", "bmm"):
        yield from _scaled_besides(call)
    elif call.op in ("softmax", "_softmax"):
        yield from _fitted(call, target)
    else:
        yield from _by_a_root(call)


def _scales(call: Call, own: float, size: int, heads: int) -> Iterator[Proposal]:
    for scale, says in _other_scales(own, size, heads):
        yield Proposal(says, _FIX, with_(scale=scale))


def _other_scales(own: float, size: int, heads: int) -> Iterator[tuple[float, str]]:
    """Each scale once, under the plainest of its names."""
    known = {
        1.0: "the scores are not scaled",
        own / math.sqrt(size): f"the scores are divided by {_root(size)} once more than in the reference",
        1
        / math.sqrt(size): f"the scores are divided by {_root(size)}, the usual scale, and the reference has {own:.4g}",
        1
        / math.sqrt(
            size * heads
        ): f"the scores are divided by the root of the model's size, sqrt({size * heads}), not of one head's, {size}",
        1 / size: f"the scores are divided by {size}, not by its root",
        math.sqrt(size): f"the scores are multiplied by {_root(size)} instead of divided",
        1 / math.sqrt(max(heads, 1)): f"the scores are divided by the root of the number of heads, {heads}",
    }
    seen = [own]
    for scale, says in known.items():
        if all(abs(scale - one) > 1e-9 * abs(one) for one in seen):
            seen.append(scale)
            yield scale, says


def _scaled_besides(call: Call) -> Iterator[Proposal]:
    """A product of queries and keys that the target, and not the reference, scales."""
    names = [argument.name for argument in call.target._schema.arguments[:2]]
    first, second = (call.arguments[name] for name in names)
    if first.ndim >= 3 and second.ndim >= 3:
        size = first.shape[-1]
        yield Proposal(
            f"the scores are divided by {_root(size)} once more than in the reference",
            _FIX,
            followed_by(lambda scores: scores / math.sqrt(size)),
        )


def _fitted(call: Call, target: Target) -> Iterator[Proposal]:
    """The logarithm of a softmax is linear in its scores: their factor follows from the target's weights."""
    scores, axis = call.arguments["self"], call.arguments["dim"]
    if scores.ndim < 3 or tuple(scores.shape) != target.value.shape:
        return
    weights = torch.as_tensor(target.value, dtype=torch.float64)
    seen = (weights > 1e-20) & scores.isfinite()
    if not bool((seen.sum(axis) > 1).any()):
        return
    own, other = (_centred(one, seen, axis) for one in (scores, weights.log()))
    factor = float((own * other).sum() / (own * own).sum().clamp(min=1e-300))
    if not factor > 0 or abs(factor - 1) < 1e-5 or (own * factor - other).norm() > 1e-3 * other.norm():
        return
    size = round(1 / factor**2)
    is_root = size > 1 and abs(1 / factor**2 / size - 1) < 1e-4
    exact = 1 / math.sqrt(size) if is_root else factor
    once_more = f"divided by {_root(size)} once more than in the reference"
    says = f"the scores are {once_more if is_root else f'multiplied by {factor:.5g} first'}"
    yield Proposal(says, _FIX, changed("self", lambda scores: scores * exact), rank=0 if is_root else 1)


def _centred(values: Tensor, seen: Tensor, axis: int) -> Tensor:
    nothing = torch.zeros_like(values)
    held = values.where(seen, nothing)
    mean = held.sum(axis, keepdim=True) / seen.sum(axis, keepdim=True).clamp(min=1)
    return (held - mean).where(seen, nothing)


def _by_a_root(call: Call) -> Iterator[Proposal]:
    """A factor that is the root of a whole number, or one over it, on something like queries or scores."""
    value, factor = call.arguments.get("self"), call.arguments.get("other")
    if isinstance(factor, Tensor) and factor.numel() == 1 and factor.is_floating_point():
        factor = float(factor)
    if not isinstance(value, Tensor) or value.ndim < 3 or not isinstance(factor, float | int) or not factor > 0:
        return
    own = 1 / factor if call.op == "div" else float(factor)
    size = round(1 / own**2)
    if size < 2 or abs(1 / own**2 / size - 1) > 1e-4:
        return
    heads = list(value.shape[1:-1]) if value.ndim >= 4 else []
    for many in heads[:2] or [1]:
        for scale, says in _other_scales(own, size, many):
            yield Proposal(says, _FIX, with_(other=1 / scale if call.op == "div" else scale))


def _root(size: int) -> str:
    return f"sqrt({size})"
