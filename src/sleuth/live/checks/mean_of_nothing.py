"""An average over no elements: an empty tensor, an empty mask, or a loss in which every label is ignored."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix
from sleuth.live.births import Birth, Verdict

REFINES = ("std_of_one_element", "division_by_zero")

_NLL = {"nll_loss_forward", "nll_loss2d_forward", "nll_loss", "nll_loss2d"}


def check(birth: Birth) -> Verdict | None:
    if not birth.made_nan or not birth.in_forward:
        return None
    if birth.name in _NLL:
        target, ignored = birth.arguments[1], birth.arguments[4]
        if not bool((target == ignored).all()):
            return None
        return Verdict(
            evidence=(Evidence("labels", target.numel()), Evidence("labels ignored", int((target == ignored).sum()))),
            fixes=(
                Fix("skip a batch whose labels are all ignored, or sum the losses and divide by count.clamp(min=1)"),
            ),
        )
    if birth.inputs and birth.inputs[0].numel() == 0:
        return Verdict(
            evidence=(Evidence("elements", 0),),
            fixes=(
                Fix("skip the empty selection: if mask.any(): loss = x[mask].mean()"),
                Fix("or average with a count that cannot be 0: (x * mask).sum() / mask.sum().clamp(min=1)"),
            ),
        )
    return None
