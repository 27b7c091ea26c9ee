"""log, log2, log10 or xlogy of exactly 0; logit of 0 or 1."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Rewrite, Verdict

# The logarithms, each with the place of the operand it is taken of.
LOGS = {"log": 0, "log2": 0, "log10": 0, "xlogy": 1, "logit": 0}


def check(birth: Birth) -> Verdict | None:
    index = LOGS.get(birth.name)
    if index is None or birth.op.output.nan or not birth.op.output.infinite:
        return None
    zeros = birth.counted(lambda x: x == 0, index)
    return Verdict(
        evidence=(Evidence("exact zeros", zeros),) if zeros else (),
        fixes=(
            Fix(
                "compute it from the logits in one fused call: F.cross_entropy, F.log_softmax, F.logsigmoid or "
                "F.binary_cross_entropy_with_logits"
            ),
            Fix("or keep the argument away from 0: torch.log(x.clamp(min=1e-8)); torch.special.xlogy for x * log(x)"),
        ),
        culprit=index,
        rewrites=(Rewrite("keep the argument away from 0", f"{{}}.clamp(min={birth.epsilon(1e-8)})", index, fix=1),),
    )
