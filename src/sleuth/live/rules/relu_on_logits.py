"""ReLU on a classifier's scores: no class can be said to be unlikely."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import LossLook, Run

TIER = 1


FUNCTIONS = (
    "cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy_of_probabilities",
    "binary_cross_entropy",
)


def look(run: Run) -> Finding | None:
    for loss in run.training_losses:
        if loss.function in FUNCTIONS and loss.made_by in ("relu", "relu6"):
            if not loss.is_root:
                continue
            return handbook.finding(
                "relu-on-logits",
                place=loss.made_at,
                step=run.looks[0].step,
                certainty="likely",
                severity="warning",
                evidence=(Evidence("input minimum", loss.input_low),),
                chain=(
                    Link("ReLU cuts off every negative score", loss.made_at),
                    Link(f"the loss function needs {_needs(loss)}, and a cut-off score gets no gradient", loss.place),
                ),
                fixes=_fixes(loss),
            )
    return None


def _takes_probabilities(loss: LossLook) -> bool:
    return loss.function in FUNCTIONS[2:]


def _needs(loss: LossLook) -> str:
    return "probabilities" if _takes_probabilities(loss) else "scores of both signs"


def _fixes(loss: LossLook) -> tuple[Fix, ...]:
    if not _takes_probabilities(loss):
        return (Fix("leave the last layer linear"),)
    squash = "sigmoid" if loss.function == "binary_cross_entropy" else "softmax"
    return (Fix(f"end the model in a {squash}"), Fix("or leave the last layer linear, with from_logits=True"))
