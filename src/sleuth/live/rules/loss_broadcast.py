"""Output (N, 1) against target (N,): the difference is a table of all pairs."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 1
ELEMENTWISE = (
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
)


def look(run: Run) -> Finding | None:
    for loss in run.training_losses:
        one, other = loss.input_shape, loss.target_shape
        if loss.function in ELEMENTWISE and one != other and _crosses(one, other):
            return _finding(loss.place, run.looks[0].step, one, other, certainty="certain")
    fact = run.facts.first("broadcast difference")
    if fact is not None and fact.times >= 2:
        one, other = fact.numbers["broadcast"]
        return _finding(fact.place, fact.first_step, one, other, certainty="likely")
    return None


def _crosses(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Do both grow when they are broadcast against each other?"""
    longest = max(len(one), len(other))
    a = (1,) * (longest - len(one)) + one
    b = (1,) * (longest - len(other)) + other
    return any(x == 1 < y for x, y in zip(a, b, strict=True)) and any(y == 1 < x for x, y in zip(a, b, strict=True))


def _finding(place, step, one, other, certainty) -> Finding:  # type: ignore[no-untyped-def]
    longest = max(len(one), len(other))
    padded = [(1,) * (longest - len(s)) + tuple(s) for s in (one, other)]
    result = tuple(max(x, y) for x, y in zip(*padded, strict=True))
    return handbook.finding(
        "loss-broadcast",
        place=place,
        step=step,
        certainty=certainty,
        evidence=(Evidence("shape of one", one), Evidence("shape of the other", other), Evidence("broadcast", result)),
        chain=(
            Link(
                f"{tuple(one)} against {tuple(other)} is broadcast to {result}: every output meets every target", place
            ),
            Link("the best answer is then the mean of all targets, for every sample"),
        ),
        fixes=(Fix("bring both to one shape: output.squeeze(1), or target.unsqueeze(1)"),),
    )
