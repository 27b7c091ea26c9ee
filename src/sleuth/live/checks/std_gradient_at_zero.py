"""The derivative of a standard deviation of values that are all equal."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Rewrite, Verdict

REFINES = ("sqrt_gradient_at_zero", "pow_gradient_at_zero")

_SPREADS = {"var", "var_mean"}


def check(birth: Birth) -> Verdict | None:
    if not birth.differentiates("Std", "StdMean", "Var", "VarMean") and not _root_of_variance(birth):
        return None
    return Verdict(
        evidence=(Evidence("smallest variance", birth.forward_held().low),),
        fixes=(
            Fix("put an epsilon under the root: torch.sqrt(x.var(unbiased=False) + 1e-12)"),
            Fix("or use x.std(), whose gradient is 0 there, or keep the variance instead of its root"),
        ),
        rewrites=(Rewrite("put an epsilon under the root", f"{{}} + {birth.epsilon(1e-12)}"),),
    )


def _root_of_variance(birth: Birth) -> bool:
    maker = birth.under_the_root()
    return maker is not None and maker.name in _SPREADS
