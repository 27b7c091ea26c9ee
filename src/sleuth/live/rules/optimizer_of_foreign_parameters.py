"""An optimiser whose parameters are not those the loss depends on."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 3


def look(run: Run) -> Finding | None:
    for fact in run.facts.all("step without gradients"):
        held = run.optimizers[fact.numbers["optimizer"]]
        others = [o for o in run.facts.all("orphan") if not o.numbers["some_held"]]
        if fact.times < TIMES or fact.numbers["kind"] != "none" or held.in_graph or held.frozen == held.parameters:
            continue
        if not others or held.with_gradient:
            continue
        return handbook.finding(
            "optimizer-of-foreign-parameters",
            place=held.made,
            step=fact.first_step,
            evidence=(
                Evidence("parameters held", held.parameters),
                Evidence("of these in the loss", 0),
                Evidence("parameters that get gradients", others[0].numbers["orphans"]),
            ),
            chain=(
                Link("the optimiser took its parameters from here", held.made),
                Link(f"the loss depends on others, such as {others[0].numbers['name']}", others[0].place),
                Link("its step finds no gradient and changes nothing", fact.place),
            ),
            fixes=(
                Fix("build the optimiser from the very model that computes the loss, after copying or wrapping it"),
            ),
        )
    return None
