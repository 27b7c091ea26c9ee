"""Parameters that the loss gives gradients to and no optimiser holds, by accident."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 2


def look(run: Run) -> Finding | None:
    made_inside = {(f.place.path, f.place.line) for f in run.facts.all("layer made in forward") if f.place}
    for fact in run.facts.all("orphan"):
        number = fact.numbers
        if fact.place is not None and (fact.place.path, fact.place.line) in made_inside:
            continue
        accident = number["made_after"] or number["unregistered"] or number["stale"]
        if fact.times < TIMES or not accident or not number["some_held"]:
            continue
        why = _why(number)
        return handbook.finding(
            "parameters-not-in-optimizer",
            place=fact.place,
            step=fact.first_step,
            evidence=(Evidence("parameter", number["name"]), Evidence("parameters left out", number["orphans"])),
            chain=(
                Link("the optimiser took its parameters", fact.places.get("optimizer")),
                Link(why, fact.place),
                Link("they get gradients at every step, and nothing uses those"),
            ),
            fixes=(
                Fix("build the optimiser after the model is complete"),
                Fix("keep layers in nn.ModuleList or nn.ModuleDict, so that model.parameters() finds them"),
            )[:: -1 if number["unregistered"] else 1],
        )
    return None


def _why(number: dict[str, object]) -> str:
    if number["made_after"]:
        return f"{number['type']} was made later, so its parameters are not among them"
    if number["unregistered"]:
        return f"{number['type']} is not a registered part of the model, so model.parameters() does not find it"
    return f"{number['type']} is not among them: the optimiser holds other tensors, which the loss does not depend on"
