"""lgamma, digamma or polygamma at 0 or a negative whole number."""

from __future__ import annotations

from sleuth.findings import Fix
from sleuth.live.births import Birth, Verdict

_GAMMAS = {"lgamma", "digamma", "polygamma", "special_gammaln", "mvlgamma", "special_digamma"}


def check(birth: Birth) -> Verdict | None:
    if birth.name not in _GAMMAS:
        return None
    return Verdict(
        fixes=(
            Fix("keep the argument positive: torch.lgamma(x + eps), or x.clamp(min=1e-6)"),
            Fix("make a distribution's parameter positive by construction: F.softplus(z) + eps"),
        ),
        culprit=0,
    )
