"""A value that float32 could hold but float16 (65,504), bfloat16 or float8 could not."""

from __future__ import annotations

import torch

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Verdict

REFINES = ("exp_overflow", "division_by_zero", "zero_times_infinity", "softmax_of_fully_masked_row", "pow_out_of_range")


def check(birth: Birth) -> Verdict | None:
    dtype = birth.output.dtype
    if not dtype.is_floating_point or dtype.itemsize > 2 or not birth.op.output.infinite:
        return None
    exact = birth.recomputed(torch.float32)
    if exact is None or not bool(torch.isfinite(exact).all()):
        return None
    largest = float(exact.abs().max())
    return Verdict(
        title=f"a value beyond the range of {str(dtype).removeprefix('torch.')}",
        evidence=(
            Evidence("value in float32", largest),
            Evidence(f"largest {str(dtype).removeprefix('torch.')}", float(torch.finfo(dtype).max)),
        ),
        fixes=(
            Fix("compute this step in float32: with torch.autocast(..., enabled=False): ... x.float()"),
            Fix("use bfloat16, whose range is float32's"),
            Fix("for a mask use torch.finfo(x.dtype).min with masked_fill instead of a constant such as -1e9"),
        ),
    )
