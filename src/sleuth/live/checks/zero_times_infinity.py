"""NaN made from an infinity that the program itself put there: 0 * inf, inf - inf, inf / inf."""

from __future__ import annotations

import math

from sleuth.findings import Fix
from sleuth.live.births import Birth, Verdict

REFINES = ("non_finite_constant",)

_PRODUCTS = {"mul", "matmul", "mm", "bmm", "addmm", "mv", "dot", "einsum", "div", "addcmul"}
_SUMS = {"add", "sub", "rsub", "sum", "mean", "cumsum", "var", "std", "native_layer_norm"}


def check(birth: Birth) -> Verdict | None:
    infinite = any(operand.numbers.infinite for operand in birth.op.operands) or any(map(math.isinf, birth.scalars))
    if not birth.made_nan or not infinite or any(map(math.isnan, birth.scalars)):
        return None
    if birth.in_derivative:
        return None
    if birth.name in _PRODUCTS:
        title = "0 times an infinity is NaN"
        fix = "put the infinity in with masked_fill(mask, float('-inf')) instead of multiplying by it"
    elif birth.name in _SUMS:
        title = "an infinity minus an infinity is NaN"
        fix = "mask with a large finite number, torch.finfo(x.dtype).min, where masks are added up"
    else:
        return None
    return Verdict(
        title=title, fixes=(Fix(fix), Fix("or use torch.where to choose, so that the other branch never takes part"))
    )
