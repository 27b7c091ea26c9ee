"""The log-determinant (or inverse) of a singular matrix."""

from __future__ import annotations

from itertools import islice

from sleuth.findings import Fix
from sleuth.live.births import Birth, Verdict
from sleuth.live.trace import Op, lineage

REFINES = ("log_of_zero", "log_of_negative")

_DETERMINANTS = {
    "_linalg_slogdet",
    "_linalg_det",
    "logdet",
    "slogdet",
    "linalg_slogdet",
    "linalg_inv_ex",
    "linalg_solve_ex",
}
_LOGS = {"log", "log2", "log10"}
_NEAR = 4


def check(birth: Birth) -> Verdict | None:
    maker = birth.op.operands[0].maker if birth.op.operands else None
    of_determinant = birth.name in _LOGS and maker is not None and _comes_from_determinant(maker)
    if (
        birth.name not in _DETERMINANTS
        and not of_determinant
        and not birth.differentiates("LinalgSlogdet", "LinalgDet")
    ):
        return None
    return Verdict(
        fixes=(
            Fix("make the matrix safely invertible: A + eps * torch.eye(n), eps around 1e-6 of its diagonal"),
            Fix("for a covariance use torch.linalg.cholesky and sum the logs of its diagonal: it says when it fails"),
        ),
    )


def _comes_from_determinant(op: Op) -> bool:
    return any(maker.name in _DETERMINANTS or "lu_factor" in maker.name for maker in islice(lineage(op), _NEAR))
