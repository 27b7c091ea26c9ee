"""Ranks that are to train one model together have different weights."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Certainty, Evidence, Finding, Fix, Link
from sleuth.live.signals import Fact, Run

TIER = 0
# One difference may be a moment between a broadcast and its arrival.
LOOKS = 2
# Without a wrapper that promises equal weights: some train apart on purpose and average now and then, and are equal
# again by one of these looks.
LOOKS_WITHOUT_WRAPPER = 6

_CAUSES: dict[str, tuple[str, str | None]] = {
    "steps": (
        "the optimiser's step is taken on some ranks only",
        "call optimizer.step() on every rank: what is done on rank 0 only is saving and printing",
    ),
    "raw module": (
        "the model, or a part of it, is called past the DistributedDataParallel around it: no gradient is shared",
        "call the wrapper: ddp_model(inputs), not model(inputs) or ddp_model.module(inputs)",
    ),
    "after wrapping": (
        "this parameter was added or replaced after the model was wrapped, so its gradient is not shared",
        "finish the model first, then wrap it in DistributedDataParallel, then make the optimiser",
    ),
    "no_sync": (
        "every backward pass runs under no_sync(), so no gradient is ever shared",
        "leave no_sync() for the last backward pass before each step",
    ),
    "clipping": (
        "the gradients are clipped on some ranks only, after they were shared",
        "clip on every rank: the gradients are the same there, so the norms are, too",
    ),
    "start": (
        "the ranks started from different weights, and nothing made them equal",
        "wrap the model in DistributedDataParallel, which sends rank 0's weights to all, or broadcast each parameter",
    ),
    "gradients": (
        "nothing shares the gradients between the ranks: each trains a model of its own",
        "wrap the model in DistributedDataParallel, or average each gradient with all_reduce before the step",
    ),
    "written": (
        "the weights differed before the first step, though wrapping the model had made them equal",
        "load or write weights before the model is wrapped, or on every rank alike",
    ),
    "gradients differ": (
        "the gradients that the step uses are not the same on every rank, though they are shared",
        "do what is done to the gradients between backward() and step() on every rank alike",
    ),
    "update": (
        "the gradients were the same on every rank; the weights they update are not",
        "give every rank's optimiser the same settings and state, and write to the weights on every rank alike",
    ),
    "unknown": ("what makes them differ was not seen", None),
}


def look(run: Run) -> Finding | None:
    fact = run.facts.first("ranks apart")
    if fact is None:
        return None
    numbers = fact.numbers
    wrapped = numbers["intent"] == "DistributedDataParallel"
    needed = LOOKS if wrapped else LOOKS_WITHOUT_WRAPPER
    if numbers["intent"] is None or numbers["looks"] < needed or (numbers["equal in between"] and not wrapped):
        return None
    return _finding(fact, run, "certain" if wrapped else "likely")


def _finding(fact: Fact, run: Run, certainty: Certainty) -> Finding:
    numbers = fact.numbers
    why, fix = _CAUSES[numbers["cause"]]
    steps = [optimizer.step_place for optimizer in run.optimizers if optimizer.step_place is not None]
    called = fact.places.get("called")
    place = called if numbers["cause"] == "raw module" and called is not None else next(iter(steps), None)
    return handbook.finding(
        "ranks-drift-apart",
        place=place,
        step=numbers["first look"],
        certainty=certainty,
        evidence=(
            Evidence("ranks", numbers["ranks"]),
            Evidence("first parameter that differs", numbers["parameter"]),
            Evidence("by", f"{numbers['by']:.2g} of its size"),
            Evidence("parameters that differ", f"{numbers['different']} of {numbers['parameters']}"),
            Evidence("looks with a difference", numbers["looks"]),
            Evidence("trained together by", numbers["intent"]),
        ),
        chain=(
            Link(why, place),
            Link(f"from step {numbers['first look']} on, {numbers['parameter']} is not the same on every rank"),
            Link("each rank now follows the gradients of a different model; what rank 0 saves is one of them"),
        ),
        fixes=() if fix is None else (Fix(fix),),
    )
