"""The losses of Keras, known by the object, and a call of one in the terms of the rules.

Keras does a good deal to labels and outputs before it compares them (ranks, masks, weights, the classes last): what is
told here is what it really compares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import keras
import numpy as np

from sleuth.findings import Place
from sleuth.live.loss_numbers import measure
from sleuth.live.signals import LossLook

# Two sums of the same numbers in float32 agree to this.
_SAME = 1e-3


@cache
def _names() -> dict[Any, str]:
    """What the rules call the functions behind the losses. Those they know nothing about are left out."""
    known = keras.losses
    return {
        known.mean_squared_error: "mse_loss",
        known.mean_absolute_error: "l1_loss",
        known.huber: "huber_loss",
        known.binary_crossentropy: "binary_cross_entropy",
        known.categorical_crossentropy: "cross_entropy_of_probabilities",
        known.sparse_categorical_crossentropy: "cross_entropy_of_probabilities",
    }


_OF_SCORES = {
    "binary_cross_entropy": "binary_cross_entropy_with_logits",
    "cross_entropy_of_probabilities": "cross_entropy",
}
_REDUCTIONS = {"sum_over_batch_size": "mean", "mean": "mean", "mean_with_sample_weight": "mean", "sum": "sum"}


@dataclass(frozen=True, slots=True)
class Known:
    """A loss of Keras's own: its name among the rules, and how it was set."""

    function: str
    sparse: bool
    reduction: str
    settings: dict[str, Any]

    @property
    def is_plain(self) -> bool:
        """Is its value that of the textbook's formula?"""
        return not self.settings.get("label_smoothing")


def known(loss: Any) -> Known | None:
    """What a loss object computes; None for all that is not Keras's own."""
    wrapper = keras.losses.MeanSquaredError.__bases__[0]
    if not isinstance(loss, wrapper) or type(loss).call is not wrapper.call:
        return None
    try:
        name = _names().get(loss.fn)
    except TypeError:
        return None
    settings = dict(loss._fn_kwargs)
    if name is None or settings.get("axis", -1) != -1:
        return None
    function = _OF_SCORES[name] if settings.get("from_logits") and name in _OF_SCORES else name
    sparse = loss.fn is keras.losses.sparse_categorical_crossentropy
    return Known(function, sparse, _REDUCTIONS.get(loss.reduction, "other"), settings)


@dataclass(eq=False, slots=True)
class Heard:
    """A call of a loss object: what it was given and what it gave, as arrays of the backend."""

    loss: Any
    y_true: Any
    y_pred: Any
    sample_weight: Any
    result: Any
    mask: Any

    @property
    def is_nested(self) -> bool:
        return any(isinstance(part, list | tuple | dict) for part in (self.y_true, self.y_pred))


@dataclass(frozen=True, slots=True)
class Head:
    """The last thing that happened to an output: "softmax", "linear", ..., where, and along which axis."""

    made_by: str = ""
    made_at: Place | None = None
    axis: int | None = None


def looks(
    heard: Sequence[Heard], heads: Sequence[Head], total: float, penalty: float, penalty_at: Place | None, place: Any
) -> list[LossLook]:
    """The calls behind one differentiated number, `total`; `penalty` is what regularisers of weights add to it."""
    found = [look_at(one, head, total, place) for one, head in zip(heard, heads, strict=True)]
    seen = [look for look in found if look is not None]
    parts = [look.value for look in seen]
    all_known = len(seen) == len(heard)
    size = abs(total) or 1.0
    for look in seen:
        look.is_root = all_known
        look.share_of_loss = min(1.0, abs(look.value) / size) if math.isfinite(look.value) else 1.0
        look.extra["penalty"] = min(1.0, abs(penalty) / size) if math.isfinite(penalty) else 0.0
        look.extra["penalty_at"] = penalty_at
        if len(seen) == 1 and math.isclose(-look.value, total, rel_tol=_SAME) and total < 0:
            look.negated_at = place
        elif not math.isclose(sum(parts) + penalty, total, rel_tol=_SAME, abs_tol=1e-7):
            # Weighted, or one of several terms: not to be compared with the loss of answering blindly.
            look.reduction = "other"
    return seen


def look_at(heard: Heard, head: Head, total: float, place: Place | None) -> LossLook | None:
    loss = known(heard.loss)
    if loss is None or heard.is_nested:
        return None
    scores, target = (np.asarray(as_numpy(part)) for part in (heard.y_pred, heard.y_true))
    scores, target = aligned(scores, target, loss.sparse)
    keep, weighted = _counted_in(heard, scores, target, loss)
    by_class = loss.function.startswith("cross_entropy")
    if by_class:
        rows = scores.shape[:-1]
        if target.shape not in (rows, scores.shape):
            return None
        scores, target = scores.reshape(-1, scores.shape[-1]), target.reshape(-1, *target.shape[len(rows) :])
    if keep is not None:
        flat = keep.reshape(-1)
        if by_class and len(flat) == len(scores):
            scores, target = scores[flat], target[flat]
        elif keep.shape == scores.shape[: keep.ndim] == target.shape[: keep.ndim]:
            scores, target = scores[keep], target[keep]
        else:
            weighted = True
    if loss.sparse and not by_class_numbers(target):
        return None
    made = measure(
        loss.function,
        scores,
        target,
        None,
        total,
        head.made_by,
        head.made_at,
        place,
        weighted=weighted,
    )
    if made is None:
        return None
    made.value = _number(heard.result)
    made.reduction = loss.reduction if loss.is_plain and math.isfinite(made.value) else "other"
    made.made_dim = _as_rows(head.axis, np.ndim(as_numpy(heard.y_pred))) if by_class else head.axis
    made.target_rows_sum_to_one = target.ndim < scores.ndim or _sum_to_one(target)
    return made


def _number(result: Any) -> float:
    """NaN for a loss that is not one number, or that raised an error instead."""
    value = np.asarray(as_numpy(result)) if result is not None else np.full((), math.nan)
    return float(value) if value.ndim == 0 else math.nan


def _sum_to_one(rows: Any) -> bool:
    return bool((np.abs(rows.sum(axis=-1, dtype=np.float64) - 1) < 0.01).all() and (rows >= 0).all())


def aligned(scores: Any, target: Any, sparse: bool) -> tuple[Any, Any]:
    """As Keras brings both to one rank, and class numbers to that of the rows."""
    if scores.ndim == target.ndim + 1 and scores.shape[-1] == 1 and not sparse:
        if target.ndim == 1:
            target = target[..., None]
        else:
            scores = scores[..., 0]
    elif target.ndim == scores.ndim + 1 and target.shape[-1] == 1:
        if scores.ndim == 1:
            scores = scores[..., None]
        else:
            target = target[..., 0]
    if sparse and target.ndim == scores.ndim and target.shape[-1] == 1:
        target = target[..., 0]
    return scores, target


def by_class_numbers(target: Any) -> bool:
    return bool(np.isfinite(target).all() and (target == np.round(target)).all())


def _counted_in(heard: Heard, scores: Any, target: Any, loss: Known) -> tuple[Any, bool]:
    """Which elements count at all (None: all of them), and whether some count more than others."""
    keep = None
    if heard.mask is not None:
        keep = np.asarray(as_numpy(heard.mask)).astype(bool)
    ignored = loss.settings.get("ignore_class")
    if ignored is not None and loss.sparse:
        wanted = target != ignored
        keep = wanted if keep is None or keep.shape != wanted.shape else keep & wanted
    if heard.sample_weight is None:
        return keep, False
    weights = np.asarray(as_numpy(heard.sample_weight))
    if weights.ndim > 1 and weights.shape[-1] == 1 and weights.shape[:-1] == target.shape[: weights.ndim - 1]:
        weights = weights[..., 0]
    if weights.shape == target.shape[: weights.ndim] and (weights == 0).any():
        counts = weights != 0
        keep = counts if keep is None or keep.shape != counts.shape else keep & counts
    return keep, bool((weights != 1).any())


def _as_rows(axis: int | None, dimensions: int) -> int | None:
    """An axis of the output as one of rows of scores: 1 for the classes, 0 for the batch."""
    if axis is None:
        return None
    axis %= dimensions
    return 1 if axis == dimensions - 1 else 0 if axis == 0 else None


def as_numpy(value: Any) -> Any:
    array = np.asarray(keras.ops.convert_to_numpy(value))
    return array.astype(np.float32) if str(array.dtype) in ("bfloat16", "float16") else array
