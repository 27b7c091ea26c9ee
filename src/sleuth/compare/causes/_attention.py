"""Scaled dot-product attention with every choice open: which scores are hidden, how, and by what they are scaled."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from sleuth.compare.causes._arguments import argument
from sleuth.compare.reference import Call

ATTENTION = frozenset({"scaled_dot_product_attention"})
Hide = Callable[[Tensor], Tensor]


def scale_of(call: Call) -> float:
    own = argument(call, "scale")
    return 1 / math.sqrt(call.arguments["query"].shape[-1]) if own is None else float(own)


def causal(rows: int, columns: int, diagonal: int = 0) -> Tensor:
    """True where a query may look."""
    return torch.ones(rows, columns, dtype=torch.bool).tril(diagonal)


def mask_of(call: Call) -> Tensor | None:
    """What the reference lets be seen: True, or what it adds; None where everything is."""
    mask: Tensor | None = argument(call, "attn_mask")
    if mask is None and argument(call, "is_causal"):
        return causal(call.arguments["query"].shape[-2], call.arguments["key"].shape[-2])
    return mask


def visible(mask: Tensor) -> Tensor:
    return mask if mask.dtype == torch.bool else mask > -1e3


def with_mask(mask: Tensor | None) -> Callable[[Call], Any]:
    return lambda call: call.again(attn_mask=mask, is_causal=False)


def with_hidden(hide: Hide, after: Hide | None = None) -> Callable[[Call], Any]:
    """Written out, so that hidden scores may be something else than minus infinity."""

    def compute(call: Call) -> Any:
        scores, value = _scores(call)
        weights = hide(scores).softmax(-1)
        return (weights if after is None else after(weights)) @ value

    return compute


def with_softmax_over(axis: int) -> Callable[[Call], Any]:
    """Written out, so that the weights may add up to 1 along another axis."""

    def compute(call: Call) -> Any:
        scores, value = _scores(call)
        mask = mask_of(call)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
        return scores.softmax(axis) @ value

    return compute


def _scores(call: Call) -> tuple[Tensor, Tensor]:
    query, key, value = (call.arguments[name] for name in ("query", "key", "value"))
    if argument(call, "enable_gqa"):
        key, value = (one.repeat_interleave(query.shape[-3] // one.shape[-3], -3) for one in (key, value))
    return query @ key.mT * scale_of(call), value
