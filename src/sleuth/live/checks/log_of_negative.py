"""log, log2 or log10 of a value below 0."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Verdict
from sleuth.live.checks.log_of_zero import LOGS


def check(birth: Birth) -> Verdict | None:
    index = LOGS.get(birth.name)
    if index is None or not birth.made_nan:
        return None
    negative = birth.counted(lambda x: x < 0, index)
    return Verdict(
        evidence=(Evidence("values below 0", negative),) if negative else (),
        fixes=(
            Fix("make the argument positive by construction: softplus, exp, a square, or clamp(min=1e-8)"),
            Fix("if the values are logits, use F.log_softmax or F.logsigmoid instead of log"),
        ),
        culprit=index,
    )
