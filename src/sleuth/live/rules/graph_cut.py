"""A statement that cuts the autograd graph, so that optimised parameters never get a gradient."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
TIMES = 2
PATIENCE = 256


def look(run: Run) -> Finding | None:
    for fact in run.facts.all("cut off"):
        crashed = fact.numbers.get("all") and run.crash is not None and "require grad" in run.crash.message
        still = bool(run.looks) and fact.last_step >= run.looks[-1].step
        # Under no_grad a part may be left out for a while on purpose.
        settled = fact.numbers["how"] != "no_grad" or run.ended or run.step >= PATIENCE
        if not crashed and (fact.times < TIMES or not still or not settled):
            continue
        how = _how(fact.numbers["how"])
        names = fact.numbers.get("names", [])
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        return handbook.finding(
            "graph-cut",
            place=fact.place,
            step=fact.first_step,
            evidence=(
                Evidence("cut by", fact.numbers["how"]),
                Evidence("parameters without a gradient", len(names) if names else "all"),
            ),
            chain=(
                Link(f"{how} here leaves the graph: what follows knows no gradient", fact.place),
                Link(f"no gradient reaches {shown}" if names else "the loss depends on no parameter"),
                Link("the loss is differentiated", run.backward_place),
            ),
            fixes=(
                Fix(f"remove {how}, and stay in torch from the parameters to the loss"),
                Fix("take numbers out for logging only, in a statement of their own: loss.item()"),
            ),
        )
    return None


def _how(name: str) -> str:
    if name == "no_grad":
        return "torch.no_grad()"
    return f".{name}" if name == "data" else f".{name}()"
