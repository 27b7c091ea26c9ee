"""The derivative of a norm or a distance at 0: a root over a sum of squares, hypot, a norm's second derivative."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Rewrite, Verdict

REFINES = ("sqrt_gradient_at_zero", "pow_gradient_at_zero", "division_by_zero")

_NORMS = ("LinalgVectorNorm", "LinalgMatrixNorm", "Norm", "Cdist", "EuclideanDist", "Pdist", "Dist", "Renorm", "Hypot")
_SUMS = {"sum", "mean"}
_SQUARES = {"pow", "mul", "square"}


def check(birth: Birth) -> Verdict | None:
    if not birth.differentiates(*_NORMS) and not _root_of_squares(birth):
        return None
    return Verdict(
        evidence=(Evidence("smallest value", birth.forward_held().low),),
        fixes=(
            Fix("add an epsilon inside: torch.sqrt((x ** 2).sum(-1) + 1e-12), or train on the squared distance"),
            Fix("or use torch.linalg.vector_norm, whose gradient at 0 is 0"),
        ),
        rewrites=(Rewrite("put an epsilon inside the root", f"{{}} + {birth.epsilon(1e-12)}"),),
    )


def _root_of_squares(birth: Birth) -> bool:
    total = birth.under_the_root()
    if total is None or total.name not in _SUMS or not total.operands:
        return False
    squares = total.operands[0].maker
    return squares is not None and squares.name in _SQUARES
