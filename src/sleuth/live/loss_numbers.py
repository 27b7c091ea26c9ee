"""A call of a loss function in numbers, from the arrays it was given. NumPy only: for frameworks other than torch."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from sleuth.findings import Place
from sleuth.live.signals import LossLook

# Besides a loss of at least this share of the whole there may be a penalty.
MOST = 0.8
_SOME = 4096
_MOST_CLASSES = 10_000


def measure(
    function: str,
    scores: Any,
    target: Any,
    output: Any,
    total: float,
    made_by: str,
    made_at: Place | None,
    place: Place | None,
    *,
    weighted: bool = False,
    computed_targets: bool = False,
) -> LossLook | None:
    """`output` holds the loss sample by sample, where it is known; `total` is the number that was differentiated."""
    if not scores.size or not target.size or scores.dtype.kind != "f":
        return None
    wide = scores.reshape(-1, scores.shape[-1]) if scores.ndim > 1 else scores.reshape(-1, 1)
    rows = wide[:_SOME].astype(np.float64)
    kind, classes = _target_kind(function, scores, target)
    numbers = (classes if classes is not None else target).astype(np.float64).reshape(-1)[:_SOME]
    part, reduction, sign = _reduction(output, total)
    peak = rows.max(axis=1, keepdims=True)
    log_sum = np.abs(peak[:, 0] + np.log(np.exp(rows - peak).sum(axis=1))).max() if rows.shape[1] > 1 else math.nan
    labels, predictions = _classes(function, scores, rows, numbers, kind)
    return LossLook(
        function=function,
        place=place,
        value=part,
        input_shape=scores.shape,
        target_shape=target.shape if classes is None else classes.shape,
        target_kind=kind,
        made_by=made_by,
        made_at=made_at,
        made_dim=scores.ndim - 1,
        input_low=float(scores.min()),
        input_high=float(scores.max()),
        row_sum_error=float(np.abs(rows.sum(axis=1) - 1).max()),
        row_log_sum=float(log_sum),
        target_low=float(numbers.min()),
        target_high=float(numbers.max()),
        target_mean=float(numbers.mean()),
        target_variance=float(numbers.var()),
        integral_targets=bool((numbers == np.round(numbers)).all()),
        labels=labels,
        predictions=predictions,
        reduction=reduction,
        is_root=True,
        negated_at=place if sign < 0 else None,
        share_of_loss=min(1.0, abs(part / total)) if total else 1.0,
        extra={
            "target_low_tenth": float(np.quantile(numbers, 0.1)),
            "target_high_tenth": float(np.quantile(numbers, 0.9)),
            "distinct_targets": int(np.unique(numbers).size),
            "weighted": weighted,
            "pos_weight": False,
            "input_spread_over_batch": _spread(scores),
            "from_integers": target.dtype.kind in "iub",
            "computed_targets": computed_targets,
            "penalty": 0.0,
            "penalty_at": None,
        },
    )


def _target_kind(function: str, scores: Any, target: Any) -> tuple[Literal["class", "probability", "number"], Any]:
    """One-hot rows are classes as well."""
    if not function.startswith("cross_entropy"):
        return "number", None
    if target.ndim < scores.ndim:
        return "class", target
    one_hot = ((target == 0) | (target == 1)).all() and (target.sum(axis=-1) == 1).all()
    return ("class", target.argmax(axis=-1)) if one_hot else ("probability", None)


def _reduction(output: Any, total: float) -> tuple[float, str, int]:
    """The loss function's part of the differentiated number, how its values became that, and with which sign."""
    if output is None:
        return total, "mean", 1
    mean, size = float(np.mean(output, dtype=np.float64)), float(np.sum(output, dtype=np.float64))
    for sign in (1, -1):
        for name, part in (("mean", mean), ("sum", size)):
            if math.isclose(sign * part, total, rel_tol=1e-3, abs_tol=1e-7):
                return part, name, sign
    for name, part in (("mean", mean), ("sum", size)):
        if total and MOST < part / total <= 1:
            return part, name, 1
    return mean, "other", 1


def _spread(scores: Any) -> float:
    """How much the outputs differ from sample to sample, against their size: 0 where the input does not matter."""
    if scores.ndim == 0 or scores.shape[0] < 2:
        return math.nan
    flat = scores.reshape(scores.shape[0], -1).astype(np.float64)
    return float(flat.std(axis=0, ddof=1).mean() / max(np.abs(flat).mean(), 1e-30))


def _classes(name: str, scores: Any, rows: Any, numbers: Any, kind: str) -> tuple[dict[int, int], dict[int, int]]:
    if kind == "class" and rows.shape[1] <= _MOST_CLASSES:
        return _counted(numbers[numbers >= 0]), _counted(rows.argmax(axis=1))
    if name.startswith("binary_cross_entropy") and scores.shape[-1:] in ((1,), scores.shape[:1]):
        whole = numbers[(numbers == 0) | (numbers == 1)]
        return _counted(whole), _counted(scores.reshape(-1)[:_SOME] > (0.0 if name.endswith("logits") else 0.5))
    return {}, {}


def _counted(values: Any) -> dict[int, int]:
    found, counts = np.unique(values, return_counts=True)
    return {int(value): int(count) for value, count in zip(found, counts, strict=True)}
