"""NaN or Inf that the program wrote down itself and that reached the loss."""

from __future__ import annotations

import math

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Verdict


def check(birth: Birth) -> Verdict | None:
    constants = [scalar for scalar in birth.scalars if not math.isfinite(scalar)]
    if not constants or not birth.in_forward:
        return None
    return Verdict(
        title=f"the program's own constant {constants[0]:g} reached the loss",
        evidence=(Evidence("constant", float(constants[0])),),
        fixes=(
            Fix("leave the masked entries out of the sum"),
            Fix("or use a finite constant: torch.finfo(x.dtype).min for a mask, 0 for a loss"),
        ),
    )
