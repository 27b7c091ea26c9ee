"""exp, exp2, expm1, sinh or cosh of a value beyond the type's range (88.7 for exp in float32)."""

from __future__ import annotations

import math

import torch

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Rewrite, Verdict

_EXPONENTIALS = {"exp", "exp2", "expm1", "sinh", "cosh", "special_expm1", "special_exp2"}

# Of what fits: room for a sum over what was made of it.
_WITHIN = 0.9


def check(birth: Birth) -> Verdict | None:
    if birth.name not in _EXPONENTIALS or birth.made_nan:
        return None
    limit = math.log(torch.finfo(birth.output.dtype).max)
    return Verdict(
        evidence=(Evidence("largest argument that fits", round(limit, 2)),),
        fixes=(
            Fix("use the fused form, which subtracts the maximum: F.softmax, F.log_softmax, F.softplus, logsumexp"),
            Fix("or bound the argument first: x.clamp(max=80).exp(); clamping after exp is too late"),
        ),
        rewrites=(Rewrite("bound the argument first", f"{{}}.clamp(max={math.floor(limit * _WITHIN)})", fix=1),),
    )
