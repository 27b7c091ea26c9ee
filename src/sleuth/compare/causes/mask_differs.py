"""Attention that hides other places: the mask lost, inverted, shifted by one, causal or not, or not deep enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import argument, changed
from sleuth.compare.causes._attention import ATTENTION, causal, mask_of, visible, with_hidden, with_mask
from sleuth.compare.reference import Call, Override

OPS = frozenset({*ATTENTION, "masked_fill", "where", "add", "mul", "softmax", "_softmax"})
# What people write for minus infinity, and what they write by mistake.
_FILLS = (-math.inf, -1e9, -1e4, 0.0, 1e-9, -1.0, -10.0, -100.0)
_FIX = "hide the places that the reference hides, with minus infinity, before the softmax"
_Again = Callable[[Tensor], Callable[[Call], Any]]


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    if call.op in ATTENTION:
        yield from _in_attention(call)
    elif call.op in ("softmax", "_softmax"):
        yield from _before_softmax(call)
    elif call.op == "masked_fill":
        yield from _filled(call)
    elif call.op == "where":
        yield from _chosen(call)
    else:
        yield from _combined(call)


def _in_attention(call: Call) -> Iterator[Proposal]:
    rows, columns = call.arguments["query"].shape[-2], call.arguments["key"].shape[-2]
    own = mask_of(call)
    if own is None:
        for diagonal, mask in _causal_masks(rows, columns):
            yield Proposal(f"it is causal{_by(diagonal)}, and the reference hides nothing", _FIX, with_mask(mask))
        return
    yield Proposal("no mask is applied: every place is seen", _FIX, with_mask(None))
    seen = visible(own)
    for says, other in _other_masks(seen.expand(*seen.shape[:-2], rows, columns) if seen.ndim >= 2 else seen):
        yield Proposal(says, _FIX, with_mask(other))
    hidden = ~seen
    for fill in _FILLS:
        if not math.isinf(fill):
            yield Proposal(
                f"hidden scores are set to {fill:g}, not to minus infinity",
                _FIX,
                with_hidden(lambda scores, fill=fill: scores.masked_fill(hidden, fill)),  # type: ignore[misc]
            )
    for added in (-1e4, -1e9, -1.0):
        yield Proposal(
            f"{-added:g} is taken from hidden scores, instead of putting minus infinity",
            _FIX,
            with_hidden(lambda scores, added=added: scores + hidden * added),  # type: ignore[misc]
        )
    yield Proposal(
        "the mask is applied after the softmax, so that the weights no longer add up to 1",
        _FIX,
        with_hidden(lambda scores: scores, lambda weights: weights * seen),
    )


def _before_softmax(call: Call) -> Iterator[Proposal]:
    scores = call.arguments["self"]
    if scores.ndim < 3 or argument(call, "dim") % scores.ndim != scores.ndim - 1:
        return
    if bool((scores <= -1e3).all(-1).any()):
        yield Proposal(
            "rows that are hidden altogether weigh all places alike: so low a number leaves nothing of their scores",
            _FIX,
            changed("self", lambda scores: scores.float().to(scores.dtype)),
        )
    for diagonal, mask in _causal_masks(*scores.shape[-2:]):
        yield Proposal(
            f"it is causal{_by(diagonal)}, and the reference hides nothing",
            _FIX,
            lambda call, mask=mask: call.again(self=call.arguments["self"].masked_fill(~mask, -math.inf)),  # type: ignore[misc]
        )


def _filled(call: Call) -> Iterator[Proposal]:
    mask, value = call.arguments["mask"], float(call.arguments["value"])
    if mask.dtype != torch.bool:
        return
    yield Proposal("no mask is applied: every place is seen", _FIX, lambda call: call.arguments["self"])
    for says, other in _other_masks(~mask):
        yield Proposal(says, _FIX, lambda call, other=other: call.again(mask=~other))  # type: ignore[misc]
    yield from _other_fills(value, lambda fill: lambda call: call.again(value=fill))
    for added in (-1e4, -1e9):
        yield Proposal(
            f"{-added:g} is taken from hidden scores, instead of putting {value:g}",
            _FIX,
            lambda call, added=added: call.arguments["self"] + call.arguments["mask"] * added,  # type: ignore[misc]
        )


def _chosen(call: Call) -> Iterator[Proposal]:
    """Where one of the two sides is one number, this hides places."""
    sides = {name: call.arguments.get(name) for name in ("self", "other")}
    constants = {name: _constant(side) for name, side in sides.items()}
    name = next((name for name, constant in constants.items() if constant is not None), None)
    if name is None or None not in constants.values():
        return
    kept = "other" if name == "self" else "self"
    condition = call.arguments["condition"]
    seen = condition if kept == "self" else ~condition
    shape = call.again().shape
    yield Proposal("no mask is applied: every place is seen", _FIX, lambda call: call.arguments[kept].expand(shape))
    for says, other in _other_masks(seen):
        shown = other if kept == "self" else ~other
        yield Proposal(says, _FIX, lambda call, shown=shown: call.again(condition=shown))  # type: ignore[misc]
    value = constants[name]
    assert value is not None
    side = sides[name]
    yield from _other_fills(
        value,
        lambda fill: (
            lambda call: call.again(**{name: torch.full_like(side, fill) if isinstance(side, Tensor) else fill})
        ),
    )


def _combined(call: Call) -> Iterator[Proposal]:
    """A mask that is added (0 and something very low) or multiplied (1 and 0)."""
    for name, kept in (("other", "self"), ("self", "other")):
        mask, value = call.arguments.get(name), call.arguments.get(kept)
        if not isinstance(mask, Tensor) or not isinstance(value, Tensor) or value.ndim < 2:
            continue
        seen = _seen_by(mask.detach(), call.op)
        if seen is None:
            continue
        yield Proposal("no mask is applied: every place is seen", _FIX, _unmasked(kept))
        low = float(mask.min())
        for says, other in _other_masks(seen):
            made = (
                torch.zeros(other.shape, dtype=value.dtype).masked_fill(~other, low)
                if call.op == "add"
                else other.to(mask.dtype)
            )
            yield Proposal(says, _FIX, lambda call, name=name, made=made: call.again(**{name: made}))  # type: ignore[misc]
        if call.op == "add":
            yield from _other_depths(name, seen, low, value.dtype)


def _unmasked(kept: str) -> Override:
    return lambda call: call.arguments[kept].expand(call.again().shape)


def _other_depths(name: str, seen: Tensor, low: float, dtype: torch.dtype) -> Iterator[Proposal]:
    for fill in (-math.inf, -1e9, -1e4, -100.0, -10.0, -1.0, 1.0):
        if fill != low:
            made = torch.zeros(seen.shape, dtype=dtype).masked_fill(~seen, fill)
            yield Proposal(
                f"{fill:g} is added to hidden scores, not {low:g}",
                _FIX,
                lambda call, made=made: call.again(**{name: made}),  # type: ignore[misc]
            )


def _other_fills(value: float, made: Callable[[float], Any]) -> Iterator[Proposal]:
    for fill in _FILLS:
        if fill != value and not (fill < -1e3 and value < -1e3 and math.isfinite(fill) and math.isfinite(value)):
            yield Proposal(f"hidden scores are set to {fill:g}, not to {value:g}", _FIX, made(fill))


def _other_masks(seen: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Other things that may be seen, from what is seen here."""
    yield "the mask is inverted: what should be hidden is seen, and the other way round", ~seen
    if seen.ndim < 2 or min(seen.shape[-2:]) < 2:
        return
    rows, columns = seen.shape[-2:]
    own = causal(rows, columns)
    is_causal = bool((seen & ~own).sum() == 0)
    for diagonal, mask in _causal_masks(rows, columns):
        if is_causal:
            yield (
                f"the causal mask is off by {abs(diagonal)}{_by(diagonal)}"
                if diagonal
                else "of the mask only its causal part is applied",
                (seen.any(-2, keepdim=True) & mask if diagonal else mask.expand_as(seen)),
            )
        elif not diagonal:
            yield "it is causal as well: later places are hidden, too", seen & mask
    if is_causal:
        yield "it is not causal: later places are seen", seen.any(-2, keepdim=True).expand_as(seen)
    if rows == columns:
        yield "the mask is transposed: rows are taken for columns", seen.mT


def _causal_masks(rows: int, columns: int) -> Iterator[tuple[int, Tensor]]:
    for diagonal in dict.fromkeys((0, 1, -1, columns - rows)):
        yield diagonal, causal(rows, columns, diagonal)


def _by(diagonal: int) -> str:
    if not diagonal:
        return ""
    return f": a place sees {diagonal} beyond itself" if diagonal > 0 else ": a place does not see itself"


def _constant(side: Any) -> float | None:
    if isinstance(side, int | float):
        return float(side)
    if isinstance(side, Tensor) and side.numel() and bool((side == side.flatten()[0]).all()):
        return float(side.flatten()[0])
    return None


def _seen_by(mask: Tensor, op: str) -> Tensor | None:
    if not mask.numel() or mask.ndim == 0:
        return None
    if op == "mul":
        if mask.dtype == torch.bool:
            return mask
        return (
            mask != 0
            if bool(((mask == 0) | (mask == 1)).all()) and bool((mask == 0).any()) and bool((mask == 1).any())
            else None
        )
    seen = mask == 0
    return seen if bool((seen | (mask <= -1e3)).all()) and bool((~seen).any()) else None
