"""What a call of a loss function was given, and how its value entered the number that was differentiated."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sleuth.findings import Place
from sleuth.live.learning.inspection import VIEWS, Call, ancestors, back
from sleuth.live.signals import LossLook

_CLASSES = ("cross_entropy", "nll_loss")
_SOME = 4096
_MOST_CLASSES = 10_000
_ABOUT = 1e-3
_PASSING_ON = VIEWS | {"mean", "sum"}


def look(call: Call, args: Any, kwargs: Any, result: Any, made: Call | None, made_at: Place | None) -> LossLook | None:
    """A loss function's call in numbers; `made` is the call behind its input."""
    names = ("input", "target")
    given = dict(zip(names, args, strict=False)) | kwargs
    scores, target = given.get("input"), given.get("target")
    if not isinstance(scores, Tensor) or not isinstance(target, Tensor) or not isinstance(result, Tensor):
        return None
    scores, target = scores.detach(), target.detach()
    if scores.numel() == 0 or target.numel() == 0 or not scores.is_floating_point():
        return None
    by_class = call.name in _CLASSES and not target.is_floating_point()
    rows = _rows(scores) if scores.dim() > 1 else scores.reshape(-1, 1)
    low, high = (float(v) for v in torch.aminmax(scores))
    labels, predictions, agree = _classes(call.name, scores, target, rows, by_class)
    numbers = target.double().flatten()[:_SOME]
    ignored = given.get("ignore_index", -100)
    if by_class:
        numbers = numbers[numbers != ignored]
    log_sum = rows.double().logsumexp(dim=1).abs().max().item() if rows.shape[1] > 1 else math.nan
    sums = rows.double().sum(dim=1)
    reduction = given.get("reduction", "mean")
    return LossLook(
        function=call.name,
        place=call.place,
        value=float(result.detach()) if result.numel() == 1 else math.nan,
        input_shape=tuple(scores.shape),
        target_shape=tuple(target.shape),
        target_kind="class" if by_class else "probability" if call.name in (*_CLASSES, "kl_div") else "number",
        made_by=made.name if made is not None else "",
        made_at=made_at,
        made_dim=made.dim if made is not None else None,
        input_low=low,
        input_high=high,
        row_sum_error=float((sums - 1).abs().max()),
        row_log_sum=log_sum,
        target_low=float(numbers.min()) if numbers.numel() else math.nan,
        target_high=float(numbers.max()) if numbers.numel() else math.nan,
        target_mean=float(numbers.mean()) if numbers.numel() else math.nan,
        target_variance=float(numbers.var(correction=0)) if numbers.numel() else math.nan,
        integral_targets=bool((numbers == numbers.round()).all()),
        labels=labels,
        predictions=predictions,
        reduction=str(reduction),
        is_root=False,
        negated_at=None,
        share_of_loss=0.0,
        target_rows_sum_to_one=by_class or target.dim() == 0 or _sums_to_one(target),
        extra={"target_low_tenth": _quantile(numbers, 0.1), "target_high_tenth": _quantile(numbers, 0.9),
               "targets": int((target != ignored).sum()) if by_class else target.numel(),
               "distinct_targets": int(numbers.unique().numel()), "weighted": given.get("weight") is not None,
               "pos_weight": given.get("pos_weight") is not None,
               "input_spread_over_batch": _spread_over_batch(scores), "accuracy": agree},
    )  # fmt: skip


def _quantile(numbers: Tensor, share: float) -> float:
    return float(numbers.quantile(share)) if numbers.numel() else math.nan


def _spread_over_batch(scores: Tensor) -> float:
    """How much the outputs differ from sample to sample, against their size: 0 where the input does not matter."""
    if scores.dim() == 0 or scores.shape[0] < 2:
        return math.nan
    flat = scores.reshape(scores.shape[0], -1).double()
    return float(flat.std(dim=0).mean() / flat.abs().mean().clamp_min(1e-30))


def _sums_to_one(target: Tensor) -> bool:
    sums = target.double().sum(dim=1 if target.dim() > 1 else 0)
    return bool(((sums - 1).abs() < 0.01).all()) and bool((target >= -1e-6).all())


def _rows(scores: Tensor) -> Tensor:
    """The scores with the classes along the last of two dimensions."""
    moved = scores.movedim(1, -1).reshape(-1, scores.shape[1])
    return moved[:_SOME]


def _classes(
    name: str, scores: Tensor, target: Tensor, rows: Tensor, by_class: bool
) -> tuple[dict[int, int], dict[int, int], float]:
    """How often each class is wanted and given, and in which share of the samples the two agree."""
    if by_class and scores.dim() > 1 and target.dim() < scores.dim() and rows.shape[1] <= _MOST_CLASSES:
        wanted, given = target.flatten()[:_SOME], rows.argmax(dim=1)
        known = wanted >= 0
        return _counted(wanted[known]), _counted(given), float((given == wanted)[known].double().mean())
    if name.startswith("binary_cross_entropy") and scores.shape[-1:] in ((1,), scores.shape[:1]):
        threshold = 0.0 if name.endswith("logits") else 0.5
        flat = target.flatten()[:_SOME]
        sure = (flat == 0) | (flat == 1)
        given = (scores.flatten()[:_SOME] > threshold).long()
        agree = (given == flat)[sure].double().mean() if given.shape == flat.shape else math.nan
        return _counted(flat[sure].long()), _counted(given), float(agree)
    return {}, {}, math.nan


def _counted(values: Tensor) -> dict[int, int]:
    found, counts = values.unique(return_counts=True)
    return {int(value): int(count) for value, count in zip(found, counts, strict=True)}


@dataclass(slots=True)
class Term:
    """A summand of the differentiated number."""

    call: Call
    factor: float
    flipped_at: Place | None
    added_at: Place | None
    value: float = math.nan


def terms(root: Call | None) -> Iterator[Term]:
    """Take the differentiated number apart into its summands, with the factor and the sign each entered with."""
    todo = [] if root is None else [Term(root, 1.0, None, None)]
    while todo:
        term = todo.pop()
        # A sum over many values has the value of the number it gives.
        term.value = term.call.notes.get("value", term.value)
        parts = list(_parts(term))
        if parts:
            todo += parts
        else:
            yield term


def _parts(term: Term) -> Iterator[Term]:
    call = term.call
    name = call.name
    if name in _PASSING_ON and len(call.inputs) == 1:
        yield _part(term, call.inputs[0], 1.0)
    elif name in ("neg", "negative"):
        yield from (_part(term, one, -1.0) for one in call.inputs[:1])
    elif name in ("mul", "div"):
        factor, one = _scaled(call)
        if one is not None:
            yield _part(term, one, factor)
    elif name == "add" and call.inputs and not call.shape:
        for one in call.inputs:
            yield _part(term, one, 1.0, added_at=call.place)
    elif name == "sub" and call.inputs and not call.shape:
        reverse = call.notes.get("raw") == "__rsub__" or call.notes.get("first_is_number")
        signs = (1.0, -1.0) if len(call.inputs) > 1 else (-1.0 if reverse else 1.0,)
        for one, sign in zip(call.inputs, signs, strict=False):
            yield _part(term, one, sign, added_at=call.place)


def _part(term: Term, call: Call, factor: float, added_at: Place | None = None) -> Term:
    flipped = term.call.place if factor < 0 else term.flipped_at
    return Term(call, term.factor * factor, flipped, term.added_at or added_at, term.value)


def _scaled(call: Call) -> tuple[float, Call | None]:
    """The one number that is multiplied by a constant here, and the constant: a weight, or a GradScaler's scale."""
    scalars = call.notes.get("scalars", ())
    if len(call.inputs) == 1 and len(scalars) == 1 and scalars[0]:
        return (scalars[0] if call.name == "mul" else 1 / scalars[0]), call.inputs[0]
    learnt = [one for one in call.inputs if one.has_grad]
    if len(learnt) == 1 and not call.shape and not call.parameters:
        before, after = learnt[0].notes.get("value", 0.0), call.notes.get("value", 0.0)
        if before and math.isfinite(after / before):
            return after / before, learnt[0]
    return 1.0, None


def place_in_sum(root: Call | None, losses: dict[int, LossLook]) -> None:
    """Say of each loss function's call how it entered the differentiated number."""
    found = list(terms(root))
    sizes = [abs(term.factor * term.value) for term in found]
    total = sum(size for size in sizes if math.isfinite(size)) or 1.0
    penalty, penalty_at = 0.0, None
    for term, size in zip(found, sizes, strict=True):
        share = size / total if math.isfinite(size) else 1.0
        loss = losses.get(term.call.number) or losses.get(getattr(back(term.call), "number", -1))
        if loss is not None:
            loss.is_root = True
            loss.share_of_loss = share
            _by_hand(loss, term.factor)
            loss.negated_at = term.flipped_at if term.factor < 0 else None
        elif _is_penalty(term.call) and math.isfinite(size):
            penalty += share
            penalty_at = term.added_at
    for loss in losses.values():
        if loss.is_root:
            loss.extra["penalty"] = penalty
            loss.extra["penalty_at"] = penalty_at


def _by_hand(loss: LossLook, factor: float) -> None:
    """A sum that is divided by the number of targets is a mean, by whoever's hand."""
    if loss.reduction == "sum" and abs(abs(factor) * loss.extra["targets"] - 1) < _ABOUT:
        loss.reduction = "mean"
        loss.value *= abs(factor)
        loss.extra["factor"] = abs(factor)


def _is_penalty(call: Call) -> bool:
    """Does it depend on weights alone, and not on data?"""
    behind = list(ancestors(call))
    return any(one.parameters for one in behind) and all(one.module is None and not one.sources for one in behind)
