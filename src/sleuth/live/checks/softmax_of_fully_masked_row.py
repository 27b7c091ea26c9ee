"""A softmax over a row in which every entry is masked with -inf."""

from __future__ import annotations

import torch
from torch import Tensor

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Verdict

REFINES = ("zero_times_infinity", "non_finite_constant")

_SOFTMAXES = {"_softmax", "_log_softmax", "softmax", "log_softmax", "special_softmax"}


def check(birth: Birth) -> Verdict | None:
    if birth.name in _SOFTMAXES and birth.made_nan:
        masked = _masked_rows(birth.inputs[0], _dimension(birth))
    elif "scaled_dot_product" in birth.name and birth.made_nan:
        masked = None
    else:
        return None
    if masked == 0:
        return None
    return Verdict(
        evidence=(Evidence("rows masked entirely", masked),) if masked else (),
        fixes=(
            Fix("leave no row without an entry: drop empty sequences, or let each position attend to itself"),
            Fix("or mask with torch.finfo(x.dtype).min instead of -inf and zero the result of the empty rows"),
        ),
    )


def _dimension(birth: Birth) -> int:
    return next((int(s) for s in birth.scalars if float(s).is_integer()), -1)


def _masked_rows(scores: Tensor, dimension: int) -> int:
    return int(torch.isneginf(scores).all(dim=dimension).sum())
