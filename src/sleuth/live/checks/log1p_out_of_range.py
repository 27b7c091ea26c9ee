"""log1p of a value at or below -1."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Rewrite, Verdict


def check(birth: Birth) -> Verdict | None:
    if birth.name not in {"log1p", "special_log1p", "special_xlog1py"}:
        return None
    index = 1 if birth.name == "special_xlog1py" else 0
    outside = birth.counted(lambda x: x <= -1, index)
    return Verdict(
        evidence=(Evidence("values at or below -1", outside),) if outside else (),
        fixes=(
            Fix("keep the argument above -1: torch.log1p(x.clamp(min=-1 + 1e-6))"),
            Fix("for log(1 - sigmoid(z)) use F.logsigmoid(-z), which never leaves its range"),
        ),
        culprit=index,
        rewrites=(Rewrite("keep the argument above -1", "{}.clamp(min=-1 + 1e-6)", index),),
    )
