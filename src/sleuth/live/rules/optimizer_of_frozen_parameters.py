"""An optimiser all of whose parameters are frozen."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 3


def look(run: Run) -> Finding | None:
    for fact in run.facts.all("step without gradients"):
        held = run.optimizers[fact.numbers["optimizer"]]
        if fact.times >= TIMES and held.parameters and held.frozen == held.parameters:
            return handbook.finding(
                "optimizer-of-frozen-parameters",
                place=held.made,
                step=fact.first_step,
                evidence=(Evidence("parameters held", held.parameters), Evidence("of these frozen", held.frozen)),
                chain=(
                    Link("every parameter given to this optimiser has requires_grad=False", held.made),
                    Link("its step finds no gradient and changes nothing", fact.place),
                ),
                fixes=(Fix("give it the parameters that are to be trained, e.g. the new head's"),),
            )
    return None
