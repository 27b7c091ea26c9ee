"""The derivative of sqrt at 0, which is infinite although the value is not."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Rewrite, Verdict


def check(birth: Birth) -> Verdict | None:
    if not birth.differentiates("Sqrt"):
        return None
    return Verdict(
        evidence=(Evidence("smallest value under the root", birth.forward_held().low),),
        fixes=(
            Fix("put an epsilon inside the root: torch.sqrt(x + 1e-12) (outside it does not help the derivative)"),
            Fix("or drop the root, or use torch.linalg.vector_norm, whose gradient at 0 is 0"),
        ),
        rewrites=(Rewrite("put an epsilon inside the root", f"{{}} + {birth.epsilon(1e-12)}"),),
    )
