"""A model that was switched to evaluation mode and is trained on like that."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 1


def look(run: Run) -> Finding | None:
    for fact in run.facts.all("trained in evaluation mode"):
        # A new optimiser right after eval() begins another training, with the statistics fixed on purpose.
        goes_on = fact.numbers["was_training"] and fact.numbers["same_optimizer"]
        if goes_on or fact.numbers["evaluated"]:
            return handbook.finding(
                "model-left-in-eval",
                place=fact.place,
                step=fact.first_step,
                evidence=(Evidence("training step seen in evaluation mode", fact.last_step),),
                chain=(
                    Link("the model is switched to evaluation mode", fact.place),
                    Link(
                        f"at step {fact.last_step} it is trained, and its dropout or BatchNorm still runs in that mode",
                        run.backward_place,
                    ),
                ),
                fixes=(Fix("call model.train() before each round of training"),),
            )
    return None
