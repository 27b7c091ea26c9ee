"""What a difference means for the task: does the model still choose the same answer?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sleuth.compare.values import Array, in_float64, is_real

_TOP = 5
# With fewer classes than this, five of them are most of them.
_ENOUGH_FOR_TOP = 2 * _TOP
_IMAGE_AXES = 4


@dataclass(frozen=True, slots=True)
class Metrics:
    """Of one output. `argmax` and `top5` are shares of all positions, None where there is no class to choose;
    `largest_change` is absolute, `relative_change` the same by the largest value; `cosine` is of all numbers."""

    positions: int
    argmax: float | None
    top5: float | None
    largest_change: float
    relative_change: float
    cosine: float | None


def measured(truth: Array, answer: Array) -> Metrics | None:
    """None for an output of no real numbers, or of another shape."""
    if not is_real(truth) or truth.shape != answer.shape or not truth.size:
        return None
    wide, other = in_float64(truth), in_float64(answer)
    with np.errstate(invalid="ignore"):
        change = float(np.abs(np.where(wide == other, 0.0, other - wide)).max())
    finite = wide[np.isfinite(wide)]
    size = float(np.abs(finite).max()) if finite.size else 0.0
    axis = class_axis(truth)
    classes = None if axis is None else (np.moveaxis(wide, axis, -1), np.moveaxis(other, axis, -1))
    return Metrics(
        0 if axis is None else truth.size // truth.shape[axis],
        None if classes is None else _argmax_agreement(*classes),
        None if classes is None or classes[0].shape[-1] < _ENOUGH_FOR_TOP else _top_agreement(*classes),
        change,
        change / size if size else (0.0 if not change else float("inf")),
        _cosine(wide, other),
    )


def all_measured(truths: Sequence[Array], answers: Sequence[Array]) -> list[Metrics | None]:
    return [measured(truth, answer) for truth, answer in zip(truths, answers, strict=False)]


def class_axis(truth: Array) -> int | None:
    """Logits stand along the last axis; of an image's pixels, along the second, where three channels are a picture."""
    if truth.dtype.kind == "c" or truth.ndim < 2:
        return None
    axis = 1 if truth.ndim >= _IMAGE_AXES else truth.ndim - 1
    if truth.shape[axis] < 2 or (truth.ndim >= _IMAGE_AXES and truth.shape[axis] == 3):
        return None
    return axis


def _argmax_agreement(truth: Array, answer: Array) -> float:
    return float(np.mean(truth.argmax(-1) == answer.argmax(-1)))


def _top_agreement(truth: Array, answer: Array) -> float:
    """How much of the first five is the same five."""
    first, second = (np.argpartition(-one, _TOP, axis=-1)[..., :_TOP].reshape(-1, _TOP) for one in (truth, answer))
    return float((first[:, :, None] == second[:, None, :]).any(-1).mean())


def _cosine(truth: Array, answer: Array) -> float | None:
    if not (np.isfinite(truth).all() and np.isfinite(answer).all()):
        return None
    product = float(np.linalg.norm(truth) * np.linalg.norm(answer))
    return float(np.vdot(truth, answer).real) / product if product else None
